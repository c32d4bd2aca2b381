"""Applet: a small web app in a notebook's output, and the Python end of it."""

from __future__ import annotations

import contextvars
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import msgspec
import traitlets

from .. import __version__
from ..kernel import place
from ..kernel.callbacks import Callbacks
from ..kernel.connection import connection
from ..protocol.app import CONSOLE_KEY
from ..protocol.base import Json
from ..protocol.link import ConsoleLines, Content, Interaction, WindowReady
from .logs import Logs
from .manifest import Manifest

_CONTENT = ("html", "js", "css", "title", "permissions", "modules", "height")
_DOCUMENT = ("html", "js", "css", "modules")
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
        What the applet may do beyond showing itself, such as `{"network": ["https://api.example.org"]}`.
    modules
        JavaScript modules by the name that `import` uses.
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
        modules: Mapping[str, str] | None = None,
        height: int | str | None = None,
        **traits: Any,
    ) -> None:
        unknown = [name for name in traits if not self.has_trait(name)]
        if unknown:
            raise TypeError(f"Applet has no argument {unknown[0]!r}. Its arguments: {', '.join(_CONTENT)}, window_id.")
        self._interactions = Callbacks()
        self._manifest: Manifest | None = None
        self._logs = Logs()
        # On ipykernel 7.0 a message from another thread needs the cell's context to be sent in.
        self._context = contextvars.copy_context()
        self._connection = connection()
        super().__init__(
            html=html,
            js=js,
            css=css,
            title=title,
            window_id=window_id or f"applet-{uuid.uuid4().hex[:8]}",
            permissions=dict(permissions or {}),
            modules=dict(modules or {}),
            height=height,
            _revision=_next_revision(0),
            _session=place.session(),
            _route=self._connection.route,
            **traits,
        )
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

    def on_interaction(self, function: Callable[[str], Any], remove: bool = False) -> None:
        """Have `function(content)` called when the applet says `sendInteraction(content)`.

        It runs between cells, and what it prints shows in the cell that called `on_interaction`.
        """
        self._interactions.add(function, remove=remove)

    def set_content(
        self, *, html: str | None = None, js: str | None = None, css: str | None = None, title: str | None = None
    ) -> None:
        """Give the window new content: a new document, in which nothing of the old one runs on."""
        given = {"html": html, "js": js, "css": css, "title": title}
        # One message with all of it: a page must not show the new HTML with the old script for a moment.
        with self.hold_sync():
            self.unobserve(self._content_changed, names=list(_CONTENT))
            try:
                for name, value in given.items():
                    if value is not None:
                        setattr(self, name, value)
            finally:
                self.observe(self._content_changed, names=list(_CONTENT))
            self._changed(another=any(given[name] is not None for name in ("html", "js", "css")))

    def close(self) -> None:
        """Close the window, wherever it is shown."""
        if self.comm is not None and self._connection.owns(self):
            name = {"windowId": self.window_id, "session": self._session}
            self._connection.tell(self.window_id, "close_window", name)
            self._connection.remove(self)
        super().close()

    # ---- WindowOwner

    def open_window(self) -> None:
        content = msgspec.to_builtins(Content(*(getattr(self, name) for name in _CONTENT)))
        arguments = {"windowId": self.window_id, "revision": self._revision, "content": content}
        self._connection.tell(self.window_id, "open_window", arguments)

    def take_notice(self, notice: Any) -> None:
        match notice:
            case WindowReady(manifest=manifest):
                self._manifest = None if manifest is None else Manifest.of(manifest)
            case Interaction(content=content):
                self._interactions(content)
            case ConsoleLines(entries=entries, dropped=dropped):
                self._logs.take(entries, dropped)

    def put_on_comm(self, content: dict[str, Any]) -> None:
        self._context.copy().run(self.send, content)

    # ---- inside

    def _query(self, key: str) -> dict[str, Json]:
        return {"windowId": self.window_id, "stateKey": key, "session": self._session}

    def _command(self, name: str, params: Mapping[str, Json] | None, kwargs: dict[str, Json]) -> dict[str, Json]:
        return {
            "windowId": self.window_id,
            "command": name,
            "params": {**(params or {}), **kwargs},
            "session": self._session,
        }

    def _content_changed(self, change: Any) -> None:
        self._changed(another=change["name"] in _DOCUMENT)

    def _changed(self, *, another: bool) -> None:
        if another:
            self._manifest = None
            self._revision = _next_revision(self._revision)
        self.open_window()


def _next_revision(last: int) -> int:
    """Microseconds since the epoch, so that an Applet made later, in whatever kernel, has the higher revision."""
    return max(time.time_ns() // 1_000, last + 1)


def _from_page(widget: Applet, content: Any, buffers: list[memoryview]) -> None:
    widget._connection.on_comm(widget, content)
