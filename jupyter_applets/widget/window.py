"""The window behind an Applet: the traits that pages show, and the host's word on them, kept the same both ways."""

from __future__ import annotations

import contextvars
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anywidget
import msgspec
import traitlets

from .. import __version__
from ..errors import AppletError
from ..kernel import place
from ..kernel.callbacks import Callbacks
from ..kernel.connection import connection
from ..kernel.mirror import State
from ..link.base import PendingCall
from ..protocol.base import Json
from ..protocol.channel import RESERVED
from ..protocol.link import (
    AppletFile,
    ConsoleEntry,
    ConsoleLines,
    Content,
    Interaction,
    StateChanged,
    WindowContent,
    WindowReady,
)
from . import bundles
from .logs import Logs
from .manifest import Manifest

CONTENT = ("html", "js", "css", "title", "permissions", "modules", "height", "slug", "files")
_DOCUMENT = ("html", "js", "css", "modules", "files")
"""A change of these is another applet: a new revision, with an empty log. The others change the one that runs."""


class WindowWidget(anywidget.AnyWidget):
    """Owns the revision: every change of what is shown gets the next one, and of two contents the higher wins."""

    _esm = bundles.STATIC / "applet.js"

    html = traitlets.Unicode().tag(sync=True)
    js = traitlets.Unicode().tag(sync=True)
    css = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    window_id = traitlets.Unicode().tag(sync=True)
    permissions = traitlets.Dict().tag(sync=True)
    modules = traitlets.Dict().tag(sync=True)
    height = traitlets.Union([traitlets.Int(), traitlets.Unicode()], allow_none=True, default_value=None).tag(sync=True)

    slug = traitlets.Unicode().tag(sync=True)
    files = traitlets.Dict().tag(sync=True)

    _streaming = traitlets.Bool(False).tag(sync=True)
    _revision = traitlets.Int().tag(sync=True)
    _session = traitlets.Unicode().tag(sync=True)
    _route = traitlets.Unicode().tag(sync=True)
    _version = traitlets.Unicode(__version__).tag(sync=True)

    def __init__(self, window_id: str | None, state: Mapping[str, Json], *, app_protocol: bool, **traits: Any) -> None:
        self._interactions = Callbacks()
        self._state_callbacks = Callbacks()
        self._state = State(self._send_state, self._state_callbacks, self._push_failed)
        self._saved_state: dict[str, Json] = {}
        self._manifest: Manifest | None = None
        self._logs = Logs()
        self._app_protocol = app_protocol
        # On ipykernel 7.0 a message from another thread needs the cell's context to be sent in.
        self._context = contextvars.copy_context()
        self._connection = connection()
        super().__init__(
            window_id=window_id or f"applet-{uuid.uuid4().hex[:8]}",
            _revision=_next_revision(0),
            _session=place.session(),
            _route=self._connection.route,
            **traits,
        )
        self._saved_state = dict(state)
        self._state.replace({key: value for key, value in state.items() if key not in RESERVED})
        self.on_msg(_from_page)
        self.observe(self._content_changed, names=list(CONTENT))
        self._connection.add(self)

    def close(self) -> None:
        """Close the window, wherever it is shown."""
        if self.comm is not None and self._connection.owns(self):
            self._connection.tell(self.window_id, "close_window", self._name)
            self._connection.remove(self)
        super().close()

    # ---- WindowOwner

    def open_window(self) -> None:
        """Give the window to the host, and take over the state that it has there."""
        revision = self._revision
        arguments = {
            "windowId": self.window_id,
            "revision": revision,
            "content": msgspec.to_builtins(self._content()),
            "state": {**self._saved_state, **self._state},
        }
        pending = self._connection.tell(self.window_id, "open_window", arguments)
        if pending is not None:
            pending.add_done_callback(lambda done: self._opened(revision, done))
        # What was on its way when the connection was cut.
        self._state.flush()

    def flush(self) -> None:
        self._state.flush()

    def take_notice(self, notice: Any) -> None:
        match notice:
            case WindowReady(manifest=manifest):
                self._manifest = None if manifest is None else Manifest.of(manifest)
            case StateChanged(data=data):
                self._state.take(data)
            case WindowContent():
                self._follow(notice)
            case Interaction(content=content):
                self._interactions(content)
            case ConsoleLines(entries=entries, dropped=dropped):
                self._logs.take(entries, dropped)

    def put_on_comm(self, content: dict[str, Any]) -> None:
        self._context.copy().run(self.send, content)

    # ---- inside

    @property
    def _name(self) -> dict[str, Json]:
        return {"windowId": self.window_id, "session": self._session}

    def _content(self) -> Content:
        return Content(
            **{name: getattr(self, name) for name in CONTENT if name != "files"},
            files=msgspec.convert(self.files, dict[str, AppletFile]),
            streaming=self._streaming,
            app_protocol=self._app_protocol,
        )

    def _opened(self, revision: int, done: Any) -> None:
        if not done.cancelled() and done.exception() is None and done.result()["revision"] == revision:
            self._state.replace(done.result()["state"])

    def _follow(self, notice: WindowContent) -> None:
        """Someone else gave the window its content: this widget shows it from now on."""
        content = notice.content
        if content is None or notice.revision < self._revision:
            return
        news = {name: getattr(content, name) for name in CONTENT if name != "files"}
        news["files"] = msgspec.to_builtins(content.files)
        if notice.revision > self._revision:
            self._manifest = None
            self._saved_state = {}
            self._state.replace(notice.state)

        def follow() -> None:
            with self._setting():
                self._set(news)
                self._app_protocol = content.app_protocol
                self._revision = notice.revision

        self._context.copy().run(follow)

    def _send_state(self, data: dict[str, Json]) -> PendingCall | None:
        return self._connection.push(self.window_id, {**self._name, "data": data})

    def _push_failed(self, error: AppletError) -> None:
        """What was refused is not in the state: it is told in the logs, and what the host has is taken over."""
        self._logs.take([ConsoleEntry("error", [f"[host] A push was refused: {error.message}"], 0.0)])
        pending = self._connection.tell(self.window_id, "get_applet_state", self._name)
        if pending is not None:
            pending.add_done_callback(self._read_again)

    def _read_again(self, done: Any) -> None:
        if not done.cancelled() and done.exception() is None:
            self._state.replace(done.result()["state"])

    # What is streamed is a content of its own, which the whole one replaces.

    def _begin_stream(self) -> None:
        with self._setting():
            self._set({"html": "", "_streaming": True})
            self._changed(another=True)

    async def _write_stream(self, html: str) -> None:
        arguments = {"windowId": self.window_id, "revision": self._revision, "html": html}
        await self._connection.acall(self.window_id, "stream_content", arguments, page=False)

    def _end_stream(self, html: str) -> None:
        with self._setting():
            self._set({"html": html, "_streaming": False})
            self._changed(another=True)

    @contextmanager
    def _setting(self) -> Iterator[None]:
        """Traits change as one message: a page must not show the new HTML with the old script for a moment."""
        with self.hold_sync():
            self.unobserve(self._content_changed, names=list(CONTENT))
            try:
                yield
            finally:
                self.observe(self._content_changed, names=list(CONTENT))

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def _content_changed(self, change: Any) -> None:
        if change["name"] in _DOCUMENT:
            with self._setting():
                self._changed(another=True)
        else:
            self._changed(another=False)

    def _changed(self, *, another: bool) -> None:
        if another:
            self._manifest = None
            # Another applet: not the saved one any more, and without the state of the one before.
            self.slug = ""
            self._app_protocol = True
            self._saved_state = {}
            self._state.clear()
            self._revision = _next_revision(self._revision)
        self.open_window()


def _next_revision(last: int) -> int:
    """Microseconds since the epoch, so that an Applet made later, in whatever kernel, has the higher revision."""
    return max(time.time_ns() // 1_000, last + 1)


def _from_page(widget: WindowWidget, content: Any, buffers: list[memoryview]) -> None:
    if not bundles.answer(widget.put_on_comm, content):
        widget._connection.on_comm(widget, content)
