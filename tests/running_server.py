"""A real Jupyter server with the extension, real links to it, and pages that are plain WebSockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect

from jupyter_applets.link.socket import SocketLink
from jupyter_applets.protocol.base import PROTOCOL

WAIT = 10


class Page:
    """A page's end of `ws/applet`, one message at a time."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket
        self._ready: list[Any] = []

    async def send(self, *messages: Any) -> None:
        for message in messages:
            await self.socket.write_message(message if isinstance(message, str | bytes) else json.dumps(message))

    async def next(self) -> Any:
        """The next message, whether it came alone or in a batch."""
        while not self._ready:
            frame = await asyncio.wait_for(self.socket.read_message(), WAIT)
            assert frame is not None, "the server closed the connection"
            data = json.loads(frame)
            self._ready += data if isinstance(data, list) else [data]
        return self._ready.pop(0)

    async def hello(self, *views: dict[str, Any], session: str = "nb") -> Any:
        hello = {
            "type": "hello",
            "protocol": PROTOCOL,
            "version": "0.1.0",
            "role": "page",
            "session": session,
            "id": "p",
        }
        await self.send({**hello, "views": list(views)})
        welcome = await self.next()
        for _ in views:
            assert (await self.next())["type"] == "windowContent"
        return welcome

    async def answer(self, value: Any) -> Any:
        """Answer the next request; gives that request."""
        request = await self.next()
        kind = request["request"]["kind"]
        response = {"kind": kind, {"query": "data", "command": "result"}[kind]: value}
        await self.send(
            {
                "type": "APP_PROTOCOL_RESPONSE",
                "requestId": request["requestId"],
                "windowId": request["windowId"],
                "response": response,
            }
        )
        return request


OpenPage = Callable[..., Awaitable[Page]]
Ask = Callable[..., Awaitable[HTTPResponse]]


@pytest.fixture
def secret(jp_serverapp: Any) -> str:
    value: str = jp_serverapp.web_app.settings["jupyter_applets_secret"]
    return value


@pytest.fixture
def base(http_server_client: Any, jp_http_port: int, jp_base_url: str) -> str:
    """The server's URL; the client fixture is what makes it accept connections."""
    return f"http://127.0.0.1:{jp_http_port}{jp_base_url}"


@pytest.fixture
def ask(base: str, jp_auth_header: dict[str, str]) -> Ask:
    """Make a request below `applets/`, with a query and a JSON or binary body; every status is an answer."""

    async def ask(
        route: str, verb: str = "GET", body: Any = None, headers: dict[str, str] | None = None, **query: Any
    ) -> HTTPResponse:
        data = body if body is None or isinstance(body, str | bytes) else json.dumps(body)
        url = f"{base}applets/{route}{'?' if query else ''}{urlencode(query)}"
        request = HTTPRequest(
            url, verb, {**jp_auth_header, **(headers or {})}, data, allow_nonstandard_methods=True, request_timeout=60
        )
        return await AsyncHTTPClient().fetch(request, raise_error=False)

    return ask


@pytest.fixture
def open_page(base: str, jp_auth_header: dict[str, str]) -> Iterator[OpenPage]:
    """Open a page's socket; headers and the session may be others."""
    pages: list[Page] = []

    async def open_page(session: str = "nb", headers: dict[str, str] | None = None) -> Page:
        url = f"{base}applets/ws/applet?session={session}".replace("http", "ws", 1)
        socket = await websocket_connect(HTTPRequest(url, headers=jp_auth_header if headers is None else headers))
        pages.append(Page(socket))
        return pages[-1]

    yield open_page
    for page in pages:
        page.socket.close()


@pytest.fixture
def make_link(base: str, secret: str) -> Iterator[Callable[..., SocketLink]]:
    links: list[SocketLink] = []

    def make(url: str = base, key: str = secret, session: str = "nb", **options: Any) -> SocketLink:
        links.append(SocketLink(url, key, session=session, kernel="k", version="0.1.0", **options))
        return links[-1]

    yield make
    for link in links:
        link.close()


async def reply(pending: Any) -> Any:
    """The reply to a call, waited for on this loop."""
    return await asyncio.wait_for(asyncio.wrap_future(pending), WAIT)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what the server does without a word."""

    async def look() -> None:
        while not holds():  # noqa: ASYNC110 (nothing tells us)
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), WAIT)
