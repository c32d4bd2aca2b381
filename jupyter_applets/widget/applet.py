"""Applet: a small web app in a notebook's output, and the Python end of it."""

from __future__ import annotations

import contextvars
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anywidget
import msgspec
import traitlets

from .. import __version__
from ..errors import AppletError, CallTimeout
from ..kernel import place
from ..kernel.callbacks import Callbacks
from ..kernel.connection import connection
from ..kernel.mirror import State
from ..link.base import PendingCall
from ..protocol.app import CONSOLE_KEY
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
from . import bundles, files
from .logs import Logs
from .manifest import Manifest
from .streaming import HtmlStream

_ARGUMENTS = ("html", "js", "css", "title", "permissions", "modules", "height")
_CONTENT = (*_ARGUMENTS, "slug", "files")
_INTERNAL = ("_initial_state", "_app_protocol")
_DOCUMENT = ("html", "js", "css", "modules", "files")
"""A change of these is another applet: a new revision, with an empty log. The others change the one that runs."""


class Applet(anywidget.AnyWidget):
    """A web app that shows in an output, keeps running while cells run, and can be read and driven from Python.

    Parameters
    ----------
    html
        A fragment, or a whole document.
    js
        A script that runs after the HTML. `window.yaar.app.register({...})` in it declares state keys and commands.
    css
        Styles. The notebook's theme is there as CSS variables (`--jp-…`, `--applet-…`).
    title
        What people and agents read in lists of windows.
    window_id
        The name under which it is reached; making another Applet with it takes the window over.
    permissions
        What the applet may do beyond showing itself, such as `{"network": ["https://api.example.org"]}` or
        `{"files": "read"}`. What is not listed is asked of you when it happens.
    modules
        JavaScript modules by the name that `import` uses: source text, or the path of a file.
    height
        Pixels or a CSS length; by default the output grows with the content.
    """

    _esm = Path(__file__).parent / "static" / "applet.js"

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

    def __init__(
        self,
        html: str = "",
        js: str = "",
        css: str = "",
        title: str = "",
        window_id: str | None = None,
        permissions: Mapping[str, Json] | None = None,
        modules: Mapping[str, str | os.PathLike[str]] | None = None,
        height: int | str | None = None,
        **traits: Any,
    ) -> None:
        unknown = [name for name in traits if not self.has_trait(name) and name not in _INTERNAL]
        if unknown:
            raise TypeError(
                f"Applet has no argument {unknown[0]!r}. Its arguments: {', '.join(_ARGUMENTS)}, window_id."
            )
        self._interactions = Callbacks()
        self._state_callbacks = Callbacks()
        self._state = State(self._send_state, self._state_callbacks, self._push_failed)
        self._saved_state: dict[str, Json] = {}
        self._manifest: Manifest | None = None
        self._logs = Logs()
        # On ipykernel 7.0 a message from another thread needs the cell's context to be sent in.
        self._context = contextvars.copy_context()
        self._connection = connection()
        initial = traits.pop("_initial_state", {})
        self._app_protocol = traits.pop("_app_protocol", True)
        super().__init__(
            html=html,
            js=js,
            css=css,
            title=title,
            window_id=window_id or f"applet-{uuid.uuid4().hex[:8]}",
            permissions=dict(permissions or {}),
            modules={name: files.module_text(source) for name, source in (modules or {}).items()},
            height=height,
            _revision=_next_revision(0),
            _session=place.session(),
            _route=self._connection.route,
            **traits,
        )
        self._saved_state = dict(initial)
        self._state.replace({key: value for key, value in initial.items() if key not in RESERVED})
        self.on_msg(_from_page)
        self.observe(self._content_changed, names=list(_CONTENT))
        self._connection.add(self)

    # ---- reading and driving

    def query(self, key: str, timeout: float | None = None) -> Json:
        """Read a state key; `"manifest"` tells what there is. Blocks, and works in a busy cell."""
        instead = None if key == CONSOLE_KEY else f"<applet>.aquery({key!r})"
        return self._connection.call(self.window_id, "app_query", self._query(key), timeout, instead)

    async def aquery(self, key: str, timeout: float | None = None) -> Json:
        """Read a state key, awaiting the answer."""
        return await self._connection.acall(self.window_id, "app_query", self._query(key), timeout)

    def command(
        self, name: str, params: Mapping[str, Json] | None = None, /, *, timeout: float | None = None, **kwargs: Json
    ) -> Json:
        """Run a command, with its params as a mapping or as keywords. Blocks, and works in a busy cell."""
        arguments = self._command(name, params, kwargs)
        return self._connection.call(
            self.window_id, "app_command", arguments, timeout, f"<applet>.acommand({name!r}, …)"
        )

    async def acommand(
        self, name: str, params: Mapping[str, Json] | None = None, /, *, timeout: float | None = None, **kwargs: Json
    ) -> Json:
        """Run a command, awaiting its result."""
        arguments = self._command(name, params, kwargs)
        return await self._connection.acall(self.window_id, "app_command", arguments, timeout)

    @property
    def manifest(self) -> Manifest:
        """What the applet can do: its state keys and commands, with their schemas."""
        if self._manifest is None:
            self._manifest = Manifest.of(self.query("manifest"))
        return self._manifest

    @property
    def logs(self) -> Logs:
        """What the applet said on its console, and what it threw."""
        return self._logs

    # ---- state

    @property
    def state(self) -> State:
        """What the applet set with `setAppletState`, and what was pushed to it: a live mapping."""
        return self._state

    def push(self, **state: Json) -> None:
        """Merge values into the applet's state: its `onStateUpdate(data => …)` is called.

        It does not wait. However fast a loop pushes, the last value of every key arrives. Bytes arrive as base64 text.
        """
        self._state.push(state)

    def on_state(self, function: Callable[[dict[str, Json]], Any], remove: bool = False) -> None:
        """Have `function(changes)` called when the applet, or anyone but this kernel, changes the state.

        It runs between cells, and what it prints shows in the cell that called `on_state`.
        """
        self._state_callbacks.add(function, remove=remove)

    def wait_for_state(
        self, key: str, predicate: Callable[[Json], Any] | None = None, timeout: float | None = None
    ) -> Json:
        """Block until the state has the key, with a value for which `predicate(value)` holds; gives the value.

        It works in a busy cell. Without a timeout it waits for as long as it takes.
        """
        if not self._state.holding(key, predicate):
            self._connection.check_blocking(self.window_id, f"<applet>.await_for_state({key!r}, …)")
        found = self._state.wait_for(key, predicate, timeout)
        if not found:
            raise self._state_late(key, timeout)
        return found[0]

    async def await_for_state(
        self, key: str, predicate: Callable[[Json], Any] | None = None, timeout: float | None = None
    ) -> Json:
        """The same, awaiting."""
        import asyncio  # slow to load, and loaded already wherever a loop runs

        loop = asyncio.get_running_loop()
        held: asyncio.Future[Json] = loop.create_future()

        def look(_: Any = None) -> None:
            try:
                found = self._state.holding(key, predicate)
            except Exception as e:  # the predicate's, for whoever waits
                found = ()
                if not held.done():
                    held.set_exception(e)
            if found and not held.done():
                held.set_result(found[0])

        self.on_state(look)
        try:
            look()
            done, _ = await asyncio.wait([held], timeout=timeout)
        finally:
            self.on_state(look, remove=True)
        if not done:
            raise self._state_late(key, timeout)
        return held.result()

    # ---- as files

    def save(self, slug: str, name: str | None = None, description: str | None = None) -> dict[str, Json]:
        """Keep the applet, with its state, in `applets/<slug>/` below the server's root; gives the paths."""
        arguments = {"slug": slug, "name": name, "description": description, **self._name}
        given = {key: value for key, value in arguments.items() if value is not None}
        saved: dict[str, Json] = self._connection.call(self.window_id, "save_applet", given)
        return saved

    @classmethod
    def load(cls, slug: str, window_id: str | None = None) -> Applet:
        """A saved applet, or one that comes with the package, with the state it was saved with.

        An edit of its files reloads it.
        """
        found = connection().call(window_id or "", "read_applet", {"slug": slug})
        content = msgspec.convert(found["content"], Content)
        return cls._of(content, found["state"], window_id or slug)

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the applet, with its last state, as one HTML file that runs from disk, offline; gives its path."""
        found = self._connection.call(self.window_id, "export_window", self._name)
        return files.export(found, Path(path))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], window_id: str | None = None) -> Applet:
        """An exported applet, with its state; or any HTML file, as an applet."""
        content, state = files.read_exported(Path(path))
        return cls._of(content, state, window_id)

    @classmethod
    def _of(cls, content: Content, state: dict[str, Json], window_id: str | None) -> Applet:
        arguments = {name: getattr(content, name) for name in _ARGUMENTS}
        plain = msgspec.to_builtins(content.files)
        return cls(
            **arguments,
            window_id=window_id,
            slug=content.slug,
            files=plain,
            _initial_state=state,
            _app_protocol=content.app_protocol,
        )

    # ---- what people decided

    @property
    def decisions(self) -> dict[str, Json]:
        """What people have allowed this applet beyond its `permissions`; false is a no."""
        found: dict[str, Json] = self._connection.call(self.window_id, "get_decisions", self._name)
        return found

    def revoke(self, permission: str | None = None) -> dict[str, Json]:
        """Take such a decision back, or all of them: the applet has to ask again. Gives what is left."""
        given = {**self._name, **({} if permission is None else {"permission": permission})}
        left: dict[str, Json] = self._connection.call(self.window_id, "revoke_permission", given)
        return left

    # ---- what it says

    def on_interaction(self, function: Callable[[str], Any], remove: bool = False) -> None:
        """Have `function(content)` called when the applet says `sendInteraction(content)`.

        It runs between cells, and what it prints shows in the cell that called `on_interaction`.
        """
        self._interactions.add(function, remove=remove)

    # ---- content

    def set_content(
        self, *, html: str | None = None, js: str | None = None, css: str | None = None, title: str | None = None
    ) -> None:
        """Give the window new content: a new document, in which nothing of the old one runs on."""
        given = {"html": html, "js": js, "css": css, "title": title}
        another = any(given[name] is not None for name in ("html", "js", "css"))
        with self._setting():
            self._set({name: value for name, value in given.items() if value is not None})
            self._changed(another=another)

    def stream_html(self) -> HtmlStream:
        """New HTML in pieces: `async with app.stream_html() as s: await s.write(piece)`.

        It renders as it comes; scripts, and the applet's `js`, run once, when it is whole.
        """
        return HtmlStream(self._begin_stream, self._write_stream, self._end_stream)

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
            **{name: getattr(self, name) for name in _CONTENT if name != "files"},
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
        news = {name: getattr(content, name) for name in _CONTENT if name != "files"}
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

    def _state_late(self, key: str, timeout: float | None) -> CallTimeout:
        has = f"it is {self._state[key]!r}" if key in self._state else "it is not set"
        return CallTimeout(f"The state key {key!r} did not come to be as asked for within {timeout} s: {has}.")

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

    def _query(self, key: str) -> dict[str, Json]:
        return {**self._name, "stateKey": key}

    def _command(self, name: str, params: Mapping[str, Json] | None, kwargs: dict[str, Json]) -> dict[str, Json]:
        return {**self._name, "command": name, "params": {**(params or {}), **kwargs}}

    @contextmanager
    def _setting(self) -> Iterator[None]:
        """Traits change as one message: a page must not show the new HTML with the old script for a moment."""
        with self.hold_sync():
            self.unobserve(self._content_changed, names=list(_CONTENT))
            try:
                yield
            finally:
                self.observe(self._content_changed, names=list(_CONTENT))

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


def _from_page(widget: Applet, content: Any, buffers: list[memoryview]) -> None:
    if not bundles.answer(widget.put_on_comm, content):
        widget._connection.on_comm(widget, content)
