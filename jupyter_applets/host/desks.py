"""Which window of a session is active, and the pages whose desks show all of a session's windows."""

from __future__ import annotations

from ..protocol.link import WindowInfo, WindowList
from .outbox import Outbox
from .windows import Window, Windows


class Desks:
    def __init__(self, outbox: Outbox, windows: Windows) -> None:
        self._outbox = outbox
        self._windows = windows
        self._active: dict[str, str] = {}
        self._watching: dict[str, WindowList | None] = {}
        """By peer, what it was told last."""

    def active(self, session: str) -> Window | None:
        """The window that was set, loaded or turned to last, while it is there."""
        return self._windows.get(session, self._active.get(session, ""))

    def meant(self, session: str) -> Window | None:
        """The window that is meant where none is named: the active one, else the one that came last."""
        there = [window for window in self._windows if window.session == session]
        return self.active(session) or (there[-1] if there else None)

    def activate(self, window: Window) -> None:
        self._active[window.session] = window.id

    def watch(self, peer: str, watch: bool) -> None:
        if watch:
            self._watching[peer] = None
        else:
            self._watching.pop(peer, None)

    def is_watched(self, session: str) -> bool:
        return any(self._session(peer) == session for peer in self._watching)

    def drop(self, peer: str) -> None:
        self._watching.pop(peer, None)

    def tell(self) -> None:
        """Tell each desk of what is another than it was told."""
        for peer, last in self._watching.items():
            session = self._session(peer)
            active = self.active(session)
            windows = [_info(window) for window in self._windows if window.session == session]
            now = WindowList(windows, active.id if active is not None else None)
            if now != last:
                self._watching[peer] = now
                self._outbox.send(peer, now)

    def _session(self, peer: str) -> str:
        return self._outbox.peers[peer].session


def _info(window: Window) -> WindowInfo:
    ready = any(view.ready for view in window.views.values())
    return WindowInfo(window.id, window.title, window.renderer, window.slug, window.revision, ready, bool(window.views))
