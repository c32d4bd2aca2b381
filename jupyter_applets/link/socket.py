"""SocketLink: the kernel's WebSocket to the host in the Jupyter server, on a thread of its own.

It connects again by itself. Calls that were sent when the connection was cut get LinkLost; those not yet sent wait.
"""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from tornado.httpclient import HTTPError, HTTPRequest
from tornado.netutil import Resolver
from tornado.websocket import WebSocketClientConnection, WebSocketError, websocket_connect

from ..errors import Forbidden, LinkLost
from ..protocol.base import PROTOCOL
from ..protocol.frames import Codec, encode
from ..protocol.link import Hello, ToKernel
from .base import Link, log
from .thread import LoopThread

FIRST_RETRY = 0.1
LAST_RETRY = 10.0
PING_EVERY = 20.0

_codec: Codec[ToKernel] = Codec(ToKernel)


class SocketLink(Link):
    """Connects as soon as it is made; `call` never waits for that."""

    def __init__(
        self, url: str, secret: str, *, session: str, kernel: str, version: str, certificate: str | None = None
    ) -> None:
        super().__init__(session, kernel)
        self._url = url
        self._secret = secret
        self._version = version
        self._certificate = certificate
        self._connection: WebSocketClientConnection | None = None
        self._closed = False
        self._thread = LoopThread("jupyter_applets-link")
        self._thread.start(self._stay_connected())

    def close(self) -> None:
        self._closed = True
        super().close()
        self._thread.call_soon(self._hang_up)
        self._thread.stop()

    def _wake(self) -> None:
        if not self._closed:
            self._thread.call_soon(self._flush)

    def _flush(self) -> None:
        if self._connection is not None:
            for frame in self._take_queue():
                self._write(frame)

    def _write(self, frame: bytes) -> None:
        if self._connection is None:
            return
        future = self._connection.write_message(frame.decode())
        # Whether it arrived is told by the reading side: a cut connection ends the read loop.
        asyncio.ensure_future(future).add_done_callback(lambda done: done.cancelled() or done.exception())

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()

    async def _stay_connected(self) -> None:
        retry = FIRST_RETRY
        while not self._closed and self.refused is None:
            try:
                connection = await self._connect()
            except (OSError, HTTPError, WebSocketError) as e:
                self._on_refusal(e)
                log.debug("no connection to the Jupyter server yet: %r", e)
            except Exception:
                log.exception("the link to the Jupyter server failed")
            else:
                retry = FIRST_RETRY
                await self._read(connection)
            # Full jitter: a hundred kernels of one server must not come back in step.
            await asyncio.sleep(random.uniform(0, retry))  # noqa: S311
            retry = min(retry * 2, LAST_RETRY)

    def _on_refusal(self, error: Exception) -> None:
        if isinstance(error, HTTPError) and error.code == 403:
            self.refused = Forbidden(
                "The Jupyter server refused this kernel's secret: the server was started again since. "
                "Restart the kernel."
            )
            self._fail_all(self.refused)

    async def _connect(self) -> WebSocketClientConnection:
        parts = urlsplit(self._url)
        resolver = None
        if parts.scheme == "http+unix":
            resolver = _UnixResolver()
            resolver.path = unquote(parts.netloc)
            parts = parts._replace(scheme="http", netloc="localhost")
        ws = parts._replace(
            scheme={"http": "ws", "https": "wss"}[parts.scheme],
            path=parts.path + "applets/ws/kernel",
            query=f"session={quote(self.session, safe='')}",
        )
        request = HTTPRequest(
            urlunsplit(ws),
            headers={"Authorization": f"token {self._secret}"},
            ssl_options=self._trust(),
            connect_timeout=10,
        )
        connection = await websocket_connect(
            request,
            ping_interval=PING_EVERY,
            max_message_size=self._max_message_bytes * 2,
            resolver=resolver,
        )
        if connection.protocol is not None:
            connection.protocol.set_nodelay(True)
        return connection

    def _trust(self) -> ssl.SSLContext | None:
        """A server with a certificate of its own is known by that very certificate."""
        if self._certificate is None:
            return None
        context = ssl.create_default_context(cafile=self._certificate)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.check_hostname = False
        return context

    async def _read(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection
        try:
            self._write(encode([Hello(PROTOCOL, self._version, "kernel", self.session, self.kernel)]))
            self._flush()
            while (frame := await connection.read_message()) is not None:
                self._deliver(_codec.decode(frame))
        finally:
            self._connection = None
            connection.close()
            self._fail_all(
                LinkLost(
                    "The connection between the kernel and the Jupyter server was cut while the call was under way: "
                    "it may or may not have taken effect."
                ),
                only_sent=True,
            )


class _UnixResolver(Resolver):
    path: str

    async def resolve(self, host: str, port: int, family: int = 0) -> list[tuple[int, Any]]:
        return [(socket.AF_UNIX, self.path)]
