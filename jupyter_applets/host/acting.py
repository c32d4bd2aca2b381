"""What the agent of a turn does to windows: which command it waits for, what state it sets, what may come of it."""

from __future__ import annotations

from ..protocol.base import Json
from .outbox import Outbox
from .requests import Caller, Requests
from .sessions import Sessions, Turn
from .windows import Window, Windows

LINK_TIME = 60.0
"""For how long what an applet asks is taken to come from what an agent did to it, unless a person acted."""


class Acting:
    """`turn` is the one whose agent calls a tool right now."""

    def __init__(self, outbox: Outbox, windows: Windows, requests: Requests, sessions: Sessions) -> None:
        self._outbox = outbox
        self._windows = windows
        self._requests = requests
        self._sessions = sessions
        self._touched: dict[Window, tuple[int, float]] = {}
        self.turn: Turn | None = None

    def done(self, caller: Caller, arguments: dict[str, Json]) -> None:
        """The tool was called: what its window asks after this may come from it."""
        turn, self.turn = self.turn, None
        request = self._requests.of(caller)
        session = arguments.get("session") or self._outbox.peers[caller.peer].session
        window = request.window if request is not None else None
        window = window or self._windows.get(str(session), str(arguments.get("windowId")))
        if turn is not None and window is not None:
            self._touched[window] = (turn.depth, self._outbox.now)

    def depth(self, window: Window) -> int:
        """How many calls of agents and applets by each other led to what the window asks now."""
        depth, at = self._touched.get(window, (-1, 0.0))
        return depth + 1 if depth >= 0 and self._outbox.now - at < LINK_TIME else 0

    def forget(self, window: Window) -> None:
        self._touched.pop(window, None)

    def commanding(self, window: Window) -> Turn | None:
        """The turn whose agent waits for a command of this window."""
        for turn in self._sessions.under_way():
            for caller in turn.open_calls.values():
                request = self._requests.of(caller)
                if request is not None and request.window is window and request.is_command:
                    return turn
        return None

    def state_changed(self, window: Window, data: dict[str, Json], own: bool) -> None:
        """`own` is what the applet set itself, perhaps because of a command."""
        turn = self.commanding(window) if own else self.turn
        if turn is not None and turn.window is window:
            turn.state.update(data)

    def content_of(self, window_id: str, session: str) -> dict[str, Json] | None:
        """What a window shows, as seed 004's `_applet`."""
        window = self._windows.get(session, window_id)
        if window is None or window.content is None:
            return None
        content = window.content
        return {
            "windowId": window.id,
            "title": content.title,
            "slug": content.slug,
            "html": content.html,
            "js": content.js,
            "css": content.css,
        }
