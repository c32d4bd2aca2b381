"""Every tool of a host, defined once: its arguments as a struct, what it does as a function.

A kernel's functions of the same names are `link.call(name, arguments)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from .errors import InvalidArguments
from .host.host import Host, Later, Tool
from .host.requests import Caller
from .protocol.app import CONSOLE_KEY, MANIFEST_KEY, CommandAsk, ManifestAsk, QueryAsk
from .protocol.base import Data, Json
from .protocol.link import Content, Renderer

A = TypeVar("A", bound=Data)

TOOLS: dict[str, Tool] = {}


def _tool(arguments: type[A]) -> Callable[[Callable[[Host, Caller, A, float | None], Any]], Tool]:
    """Register a tool under its function's name, with its arguments checked and typed."""

    def register(function: Callable[[Host, Caller, A, float | None], Any]) -> Tool:
        name = function.__name__

        def tool(host: Host, caller: Caller, raw: dict[str, Json], timeout: float | None) -> Any:
            try:
                typed = msgspec.convert(raw, arguments)
            except msgspec.ValidationError as e:
                raise InvalidArguments(f"The arguments of {name} were refused: {e}") from None
            return function(host, caller, typed, timeout)

        TOOLS[name] = tool
        return tool

    return register


class AppQuery(Data, frozen=True):
    window_id: str
    state_key: str
    session: str | None = None


class AppCommand(Data, frozen=True):
    window_id: str
    command: str
    params: Json = msgspec.UNSET
    session: str | None = None


class OpenWindow(Data, frozen=True):
    window_id: str
    revision: int
    content: Content
    renderer: Renderer = "iframe"


class WindowName(Data, frozen=True):
    window_id: str
    session: str | None = None


class Nothing(Data, frozen=True):
    pass


@_tool(AppQuery)
def app_query(host: Host, caller: Caller, query: AppQuery, timeout: float | None) -> Later | Json:
    """Read a state key of an applet; `manifest` tells what there is, `__console` what it logged."""
    window = host.windows.find(query.window_id, session=query.session, home=host.session_of(caller))
    if query.state_key == CONSOLE_KEY:
        return msgspec.to_builtins(list(window.console))
    ask = ManifestAsk() if query.state_key == MANIFEST_KEY else QueryAsk(query.state_key)
    return host.ask(caller, window, ask, timeout)


@_tool(AppCommand)
def app_command(host: Host, caller: Caller, command: AppCommand, timeout: float | None) -> Later:
    """Run a command of an applet."""
    window = host.windows.find(command.window_id, session=command.session, home=host.session_of(caller))
    # Null is what many clients send for "no params".
    params = msgspec.UNSET if command.params is None else command.params
    return host.ask(caller, window, CommandAsk(command.command, params), timeout)


@_tool(OpenWindow)
def open_window(host: Host, caller: Caller, window: OpenWindow, timeout: float | None) -> Json:
    """Give a window of the caller's session its content; a higher revision takes the window over."""
    shown = host.show(host.session_of(caller), window.window_id, window.revision, window.content, window.renderer)
    return {"revision": shown.revision}


@_tool(WindowName)
def close_window(host: Host, caller: Caller, name: WindowName, timeout: float | None) -> Json:
    """Close a window wherever it is shown."""
    host.close(host.windows.find(name.window_id, session=name.session, home=host.session_of(caller)))
    return None


@_tool(Nothing)
def list_windows(host: Host, caller: Caller, _: Nothing, timeout: float | None) -> Json:
    """All open windows: id, session, title, whether shown in a page, whether its applet is ready."""
    return [
        {
            "windowId": window.id,
            "session": window.session,
            "title": window.title,
            "renderer": window.renderer,
            "views": len(window.views),
            "ready": any(view.ready for view in window.views.values()),
        }
        for window in host.windows
    ]
