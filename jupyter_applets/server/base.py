"""The two bases of every route. Whoever is not known or not allowed is refused here, before a handler's own code.

`allow_unauthenticated_access` is True by default in jupyter_server, so a handler without a check would be open.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from http.client import responses
from typing import Any, Literal, TypeVar

import msgspec
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketHandler

from ..errors import AppletError, InternalError, InvalidArguments, InvalidMessage, ResultNotJson
from ..host import Driver
from ..host.windows import Window
from ..protocol.frames import Codec, Wrong, encode, unpack
from ..protocol.link import ErrorReply, Hello, Result
from .statuses import status_of

RESOURCE = "jupyter_applets"
B = TypeVar("B")
MAX_UNSENT_BYTES = 64 * 1024 * 1024


async def require_user(handler: JupyterHandler) -> None:
    """Refuse a request without a user, or whose user may not do this."""
    user = handler.current_user
    if user is None:
        raise web.HTTPError(403)
    action = "read" if handler.request.method in ("GET", "HEAD") else "write"
    allowed = handler.authorizer.is_authorized(handler, user, action, RESOURCE)
    if asyncio.iscoroutine(allowed):
        allowed = await allowed
    if not allowed:
        raise web.HTTPError(403)


class ApiHandler(APIHandler):
    """The base of our HTTP routes: JSON in, JSON out, errors too."""

    async def prepare(self) -> None:  # type: ignore[override]
        await super().prepare()
        await require_user(self)
        if self.request.method in ("GET", "HEAD"):
            # As Jupyter's own `files/`: what a page of another site includes has no origin, but no XSRF token either.
            self.check_xsrf_cookie()

    @property
    def driver(self) -> Driver:
        driver: Driver = self.settings["jupyter_applets_driver"]
        return driver

    @property
    def content_security_policy(self) -> str:
        """What we send is never to be shown as a page of this server."""
        return f"{super().content_security_policy}; sandbox; default-src 'none'"

    # ---- what was asked

    def argument(self, name: str) -> str | None:
        """A query argument as it was given: tornado's own reading makes a space of each control character."""
        given = self.request.query_arguments.get(name)
        try:
            return given[-1].decode() if given else None
        except UnicodeDecodeError:
            raise InvalidArguments(f"{name} must be UTF-8.") from None

    def json_body(self, kind: type[B]) -> B:
        """The request's body, as this struct."""
        try:
            return msgspec.json.decode(self.request.body, type=kind)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as e:
            raise InvalidArguments(f"The body was refused: {e}") from None

    def named_window(self, session: str = "session") -> Window | None:
        """The window of `windowId`, in the session of that argument if it is given too; None when none is named."""
        name = self.argument("windowId")
        return None if name is None else self.driver.host.windows.find(name, session=self.argument(session))

    # ---- what is answered

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("Content-Type", "application/json")
        self.set_header("X-Content-Type-Options", "nosniff")

    def answer(self, value: Any) -> None:
        try:
            self.finish(msgspec.json.encode(value))
        except RecursionError:
            raise ResultNotJson("The answer is nested too deeply to be sent.") from None

    def finish(self, *args: Any, **kwargs: Any) -> Any:
        """jupyter_server makes everything JSON here unless it is told."""
        return super().finish(*args, set_content_type=self._headers["Content-Type"], **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """`{code, message}`, never with a traceback: of our own errors, and of whatever else went wrong."""
        _, error, _ = kwargs.get("exc_info", (None, None, None))
        if isinstance(error, AppletError):
            self.set_status(status_of(error))
            self.answer({"code": error.code, "message": error.message, "names": error.names})
            return
        reason = responses.get(status_code, "Unknown")
        told = InternalError.code if status_code == 500 else reason.upper().replace(" ", "_").replace("-", "_")
        message = error.log_message if isinstance(error, web.HTTPError) and error.log_message else f"{reason}."
        self.answer({"code": told, "message": message})

    def log_exception(self, kind: Any, error: Any, traceback: Any) -> None:
        if not isinstance(error, AppletError):
            super().log_exception(kind, error, traceback)


class HostSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """The base of our sockets: a peer of the host. What it cannot read in time is bounded, then it is dropped."""

    role: Literal["kernel", "page"]
    codec: Codec[Any]

    async def prepare(self) -> None:  # type: ignore[override]
        await super().prepare()
        await self.authenticate()
        # tornado calls check_origin only for requests that look cross-origin; policy belongs here.
        if not self.check_origin():
            raise web.HTTPError(403)

    async def authenticate(self) -> None:
        await require_user(self)

    def open(self, *args: Any, **kwargs: Any) -> Any:
        # tornado turns Nagle's algorithm on again after the upgrade: 44 ms a message.
        self.set_nodelay(True)
        self.peer = f"{self.role}-{uuid.uuid4().hex[:12]}"
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0
        self._writing = False
        self._speaks_batches = False
        self._driver: Driver = self.settings["jupyter_applets_driver"]
        self._drained: asyncio.Event = asyncio.Event()
        session = self.get_query_argument("session", "", strip=False) or ""
        self._driver.connect(self.peer, self.role, session, self._put, self._wait_drained)
        return super().open(*args, **kwargs)

    def on_message(self, frame: str | bytes) -> None:
        messages = self._decode(frame)
        if not self._speaks_batches:
            self._speaks_batches = any(isinstance(message, Hello) for message in messages)
        self._driver.receive(self.peer, messages)

    def on_close(self) -> None:
        driver = getattr(self, "_driver", None)
        if driver is not None:
            driver.disconnect(self.peer)
            self._drained.set()
        super().on_close()

    @property
    def max_message_size(self) -> int:
        limit: int = self.settings["jupyter_applets_max_message_bytes"]
        return limit + 64 * 1024

    def _decode(self, frame: str | bytes) -> list[Any]:
        if isinstance(frame, bytes):
            try:
                frame, _buffers = unpack(frame)
            except InvalidMessage as e:
                return [Wrong(e, None)]
        return self.codec.decode(frame)

    def _put(self, messages: list[Any]) -> None:
        """The host's sink: one frame for all, or a frame each for a peer that never said it reads batches."""
        frames = [_encode(messages)] if self._speaks_batches else [_encode([m])[1:-1] for m in messages]
        for frame in frames:
            self._unsent.append(frame)
            self._unsent_bytes += len(frame)
        if self._unsent_bytes > MAX_UNSENT_BYTES:
            self.log.warning("dropping %s: it does not read what it is sent", self.peer)
            self.close(1008, "not reading")
            self._unsent.clear()
            # Not now: the host is in the middle of something.
            asyncio.get_running_loop().call_soon(self.on_close)
        elif not self._writing:
            self._write()

    async def _wait_drained(self) -> None:
        """Until everything was handed to the system, or the peer is gone."""
        while self._unsent and self.ws_connection is not None:
            self._drained.clear()
            await self._drained.wait()

    def _write(self, done: Any = None) -> None:
        if done is not None and (done.cancelled() or done.exception()):
            self._drained.set()
            return
        self._writing = False
        while self._unsent and not self._writing and self.ws_connection is not None:
            frame = self._unsent.popleft()
            self._unsent_bytes -= len(frame)
            written = asyncio.ensure_future(self.write_message(frame))
            stream = self.ws_connection.stream
            self._writing = stream is not None and stream.writing()
            written.add_done_callback(self._write if self._writing else _retrieve)
        if not self._unsent:
            self._drained.set()


def _encode(messages: list[Any]) -> bytes:
    """One frame. A value can be nested just so deeply that it could be read, but not be written from further down."""
    try:
        return encode(messages)
    except RecursionError:
        return encode([m for message in messages if (m := _writable(message)) is not None])


def _writable(message: Any) -> Any:
    try:
        encode(message)
    except RecursionError:
        if not isinstance(message, Result):
            return None
        error = ResultNotJson("The result is nested too deeply to be sent.")
        return ErrorReply(error.code, error.message, message.id)
    return message


def _retrieve(done: asyncio.Future[Any]) -> None:
    """A peer that is gone shows on the reading side; the write's own error is only to be looked at."""
    if not done.cancelled():
        done.exception()
