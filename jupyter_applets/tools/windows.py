"""Tools on running applets: read, drive, show, push, close."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import InvalidArguments, TooLarge, UnknownStateKey, WindowNotFound
from ..host.host import Host, Later
from ..host.requests import Caller
from ..host.windows import Window
from ..protocol.app import CONSOLE_KEY, MANIFEST_KEY, CommandAsk, DomAsk, ManifestAsk, QueryAsk
from ..protocol.base import Json
from ..protocol.channel import COMMANDS_KEY, SNAPSHOT_KEY
from ..protocol.link import Content
from ..protocol.permissions import fault
from ..protocol.tools import (
    AppCommand,
    AppQuery,
    CloseWindowTool,
    GetAppletLogs,
    GetAppletState,
    NoArguments,
    OpenWindow,
    RevokePermission,
    SetAppletContent,
    SetAppletState,
    StreamContent,
    WindowName,
)
from .registry import tool

MAX_HTML = 4_000_000


def find(host: Host, caller: Caller, window_id: str | None, session: str | None) -> Window:
    """The window that a caller means; where it names none, the active one of its session."""
    home = host.session_of(caller)
    if window_id is not None:
        return host.windows.find(window_id, session=session, home=home)
    window = host.desks.meant(session if session is not None else home)
    if window is None:
        raise WindowNotFound(
            "No window is open in this session: open one with set_applet_content or load_applet, "
            "or name the window and its session, as list_windows lists them.",
            sorted(w.id for w in host.windows),
        )
    return window


def target(host: Host, session: str, window_id: str | None) -> str:
    """The window to fill: the one that is named, else the active one, else a new one.

    A window that a widget of the notebook owns is not taken unless it is named, or was turned to on a desk.
    """
    if window_id is not None:
        return window_id
    active = host.desks.active(session)
    if active is not None:
        return active.id
    taken = {window.id for window in host.windows if window.session == session}
    return next(name for n in range(1, len(taken) + 2) if (name := f"applet-{n}") not in taken)


def window_of(host: Host, session: str, slug: str) -> str:
    """The window for a saved applet, where none is named: the one that shows it, else a new one of its name."""
    there = {window.id: window for window in host.windows if window.session == session}
    showing = next((window.id for window in there.values() if window.slug == slug), None)
    names = (slug, *(f"{slug}-{n}" for n in range(2, len(there) + 3)))
    return showing or next(name for name in names if name not in there)


def shown(host: Host, window: Window) -> dict[str, Json]:
    """What the caller is told of a window that was filled: where it is, and whether anybody can see it."""
    host.desks.activate(window)
    seen = bool(window.views) or host.desks.is_watched(window.session)
    told: dict[str, Json] = {"windowId": window.id, "shown": seen}
    if not seen:
        told["note"] = (
            "No page shows this window yet. The content is kept: it appears in a Desk "
            "(`from jupyter_applets import Desk; Desk()` in a cell of the notebook), or when an Applet of this id is "
            "displayed."
        )
    return told


@tool
def app_query(host: Host, caller: Caller, query: AppQuery, timeout: float | None) -> Later | Json:
    window = find(host, caller, query.window_id, query.session)
    if query.state_key == CONSOLE_KEY:
        return msgspec.to_builtins(list(window.console))
    ask = ManifestAsk() if query.state_key == MANIFEST_KEY else QueryAsk(query.state_key)
    return host.ask(caller, window, ask, timeout)


@tool
def app_command(host: Host, caller: Caller, command: AppCommand, timeout: float | None) -> Later:
    window = find(host, caller, command.window_id, command.session)
    # Null is what many clients send for "no params".
    params = msgspec.UNSET if command.params is None else command.params
    return host.ask(caller, window, CommandAsk(command.command, params), timeout)


@tool
def set_applet_content(host: Host, caller: Caller, given: SetAppletContent, timeout: float | None) -> Json:
    if wrong := fault(given.permissions or {}):
        raise InvalidArguments(wrong)
    content = Content(given.html, given.js, given.css, given.title, given.permissions or {})
    session = host.session_of(caller) if given.session is None else given.session
    name = target(host, session, given.window_id)
    before = host.windows.get(session, name)
    # The person may have liked it: the caller is to know that it is gone.
    replaced = {"replaced": before.title or before.id} if before is not None and before.content is not None else {}
    window = host.show(name, None, content, session=session, vouched=host.vouches(caller))
    return {**shown(host, window), **replaced}


@tool
def get_applet_state(host: Host, caller: Caller, asked: GetAppletState, timeout: float | None) -> Later | Json:
    try:
        window = find(host, caller, asked.window_id, asked.session)
    except WindowNotFound:
        if asked.window_id is not None or asked.selector is not None:
            raise
        return {"state": {}, "windowId": None, "activeSlug": None, "appletTitle": None, "hasApplet": False}
    if asked.selector is not None:
        return host.ask(caller, window, DomAsk(asked.selector, asked.format), timeout)
    state = window.state.shown()
    if asked.key is not None:
        if asked.key not in state:
            known = ", ".join(state) or "none yet"
            raise UnknownStateKey(f"The applet's state has no key {asked.key!r}. Its keys: {known}.", list(state))
        state = {asked.key: state[asked.key]}
    return describe(window, state)


def describe(window: Window, state: dict[str, Json]) -> dict[str, Json]:
    return {
        "state": state,
        "windowId": window.id,
        "activeSlug": window.slug or None,
        "appletTitle": window.title,
        "hasApplet": window.content is not None or bool(window.views),
    }


@tool
def set_applet_state(host: Host, caller: Caller, given: SetAppletState, timeout: float | None) -> Json:
    window = find(host, caller, given.window_id, given.session)
    # The caller's kernel too: a widget there may show this window.
    host.updates.merge(window, given.data)
    return {"windowId": window.id, "rev": window.state.rev, "shown": bool(window.views)}


@tool
def get_applet_logs(host: Host, caller: Caller, asked: GetAppletLogs, timeout: float | None) -> Json:
    return msgspec.to_builtins(list(find(host, caller, asked.window_id, asked.session).console))


@tool
def list_windows(host: Host, caller: Caller, _: NoArguments, timeout: float | None) -> Json:
    return [
        {
            "windowId": window.id,
            "session": window.session,
            "title": window.title,
            "slug": window.slug or None,
            "renderer": window.renderer,
            "views": len(window.views),
            "ready": any(view.ready for view in window.views.values()),
            "active": host.desks.active(window.session) is window,
        }
        for window in host.windows
    ]


@tool
def close_window(host: Host, caller: Caller, name: CloseWindowTool, timeout: float | None) -> Json:
    host.close(find(host, caller, name.window_id, name.session))
    return None


# ---- for our own widgets


@tool
def open_window(host: Host, caller: Caller, given: OpenWindow, timeout: float | None) -> Json:
    window = host.show(
        given.window_id,
        given.revision,
        given.content,
        given.renderer,
        state=given.state,
        session=host.session_of(caller),
        vouched=host.vouches(caller),
        by=caller.peer,
    )
    return {"revision": window.revision, "state": window.state.shown(), "rev": window.state.rev}


@tool
def push_state(host: Host, caller: Caller, given: SetAppletState, timeout: float | None) -> Json:
    window = find(host, caller, given.window_id, given.session)
    host.updates.merge(window, given.data, caller.peer)
    return window.state.rev


@tool
def stream_content(host: Host, caller: Caller, more: StreamContent, timeout: float | None) -> Json:
    window = find(host, caller, more.window_id, host.session_of(caller))
    streaming = window.content is not None and window.content.streaming
    if window.revision == more.revision and window.content is not None and streaming:
        if len(window.content.html) + len(more.html) > MAX_HTML:
            raise TooLarge(f"The HTML that streams is over {MAX_HTML / 1e6:.0f} million characters.")
        host.showing.stream(window, more.html)
    return window.revision == more.revision


@tool
def export_window(host: Host, caller: Caller, name: WindowName, timeout: float | None) -> Json:
    window = find(host, caller, name.window_id, name.session)
    kept = host.showing.kept(window)
    snapshot, commands = kept.pop(SNAPSHOT_KEY, None), kept.pop(COMMANDS_KEY, [])
    return {
        "content": None if window.content is None else msgspec.to_builtins(window.content),
        "state": kept,
        "snapshot": snapshot,
        "commands": commands,
    }


@tool
def get_decisions(host: Host, caller: Caller, name: WindowName, timeout: float | None) -> Json:
    return host.decisions.granted(find(host, caller, name.window_id, name.session))


@tool
def revoke_permission(host: Host, caller: Caller, given: RevokePermission, timeout: float | None) -> Later:
    window = find(host, caller, given.window_id, given.session)
    host.decisions.revoke(window, given.permission)
    host.decided(window)

    def done(outcome: Any) -> None:
        host.reply(caller, host.made(lambda _: host.decisions.granted(window), outcome))

    return host.keep_decisions(done)
