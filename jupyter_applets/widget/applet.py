"""Applet: a small web app in a notebook's output, and the Python end of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import CallTimeout
from ..kernel.connection import connection
from ..kernel.mirror import State
from ..protocol.app import CONSOLE_KEY
from ..protocol.base import Json
from ..protocol.link import Content
from ..protocol.permissions import fault
from .logs import Logs
from .manifest import Manifest
from .streaming import HtmlStream
from .window import CONTENT, WindowWidget

_ARGUMENTS = ("html", "js", "css", "title", "window_id", "permissions", "modules", "height")
_INTERNAL = ("_initial_state", "_app_protocol")
_MAPPINGS = {
    "permissions": 'a mapping such as {"files": "read"}',
    "modules": "a mapping of names to sources or paths",
}


class Applet(WindowWidget):
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
        **others: Any,
    ) -> None:
        self._check(others, permissions=permissions, modules=modules)
        super().__init__(
            window_id,
            others.pop("_initial_state", {}),
            app_protocol=others.pop("_app_protocol", True),
            html=html,
            js=js,
            css=css,
            title=title,
            permissions=dict(permissions or {}),
            modules=_sources(modules) if modules else {},
            height=height,
            **others,
        )

    # ---- reading and driving

    def query(self, key: str, timeout: float | None = None) -> Json:
        """Read a state key; `"manifest"` tells what there is. Blocks, and works in a busy cell."""
        __tracebackhide__ = True
        instead = None if key == CONSOLE_KEY else f"<applet>.aquery({key!r})"
        return self._connection.call(self.window_id, "app_query", self._query(key), timeout, instead)

    async def aquery(self, key: str, timeout: float | None = None) -> Json:
        """Read a state key, awaiting the answer."""
        return await self._connection.acall(self.window_id, "app_query", self._query(key), timeout)

    def command(
        self, name: str, params: Mapping[str, Json] | None = None, /, *, timeout: float | None = None, **kwargs: Json
    ) -> Json:
        """Run a command, with its params as a mapping or as keywords. Blocks, and works in a busy cell."""
        __tracebackhide__ = True
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
        from . import files  # slow to load, and few export

        found = self._connection.call(self.window_id, "export_window", self._name)
        return files.export(found, Path(path))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], window_id: str | None = None) -> Applet:
        """An exported applet, with its state; or any HTML file, as an applet."""
        from . import files

        content, state = files.read_exported(Path(path))
        return cls._of(content, state, window_id)

    @classmethod
    def _of(cls, content: Content, state: dict[str, Json], window_id: str | None) -> Applet:
        shown = {name: getattr(content, name) for name in CONTENT if name != "files"}
        plain = msgspec.to_builtins(content.files)
        return cls(**shown, window_id=window_id, files=plain, _initial_state=state, _app_protocol=content.app_protocol)

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

    # ---- inside

    @classmethod
    def _check(cls, others: dict[str, Any], **mappings: Any) -> None:
        """Wrong arguments, told with the right ones."""
        for name in others:
            if name in _INTERNAL or (cls.class_traits().get(name) and not name.startswith("_")):
                continue
            import difflib

            close = difflib.get_close_matches(name, _ARGUMENTS, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"Applet has no argument {name!r}.{meant} Its arguments: {', '.join(_ARGUMENTS)}.")
        for name, value in mappings.items():
            if value is not None and not isinstance(value, Mapping):
                raise TypeError(f"Applet({name}=…) takes {_MAPPINGS[name]}, not {value!r}.")
        if wrong := fault(mappings.get("permissions") or {}):
            raise TypeError(wrong)

    def _state_late(self, key: str, timeout: float | None) -> CallTimeout:
        has = f"it is {self._state[key]!r}" if key in self._state else "it is not set"
        return CallTimeout(f"The state key {key!r} did not come to be as asked for within {timeout} s: {has}.")

    def _query(self, key: str) -> dict[str, Json]:
        return {**self._name, "stateKey": key}

    def _command(self, name: str, params: Mapping[str, Json] | None, kwargs: dict[str, Json]) -> dict[str, Json]:
        return {**self._name, "command": name, "params": {**(params or {}), **kwargs}}


def _sources(modules: Mapping[str, str | os.PathLike[str]]) -> dict[str, str]:
    from . import files

    return {name: files.module_text(source) for name, source in modules.items()}
