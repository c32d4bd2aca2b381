"""Tells views and kernels what changed in a window's state.

A view is sent one update at a time, and says when its applet has taken it; what changed meanwhile comes as the next
one. So a burst of pushes costs a slow page nothing, and every view ends with the values that stand here.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidArguments
from ..protocol.base import Json
from ..protocol.channel import COMMANDS_KEY, RESERVED, SNAPSHOT_KEY, StateUpdate
from ..protocol.link import StateChanged
from .desks import Desks
from .outbox import Outbox
from .windows import View, Window


class Updates:
    def __init__(self, outbox: Outbox, desks: Desks) -> None:
        self._outbox = outbox
        self._desks = desks
        self.changed: Callable[[Window, dict[str, Json], bool], None] = lambda window, data, own: None
        """Hears of each change, and whether it is the applet's own."""

    def merge(
        self,
        window: Window,
        data: dict[str, Json],
        peer: str | None = None,
        view: View | None = None,
        *,
        own: bool = False,
    ) -> None:
        """`peer` changes the state, as the given `view` or as whoever it is: it knows, all others are told."""
        # An applet's localStorage comes from its own page alone.
        taken = (SNAPSHOT_KEY, COMMANDS_KEY) if own else RESERVED
        if reserved := [key for key in data if key in taken]:
            raise InvalidArguments(f"The state key {reserved[0]!r} is reserved: choose another name.")
        changed = window.state.merge(data, *((view.id, view.state_seen) if view is not None else ()))
        for other in window.views.values():
            self.send(other)
        shown = {key: value for key, value in changed.items() if key not in RESERVED}
        if shown:
            self.changed(window, shown, view is not None)
            self._outbox.tell_kernels(window.session, StateChanged(window.id, shown, window.state.rev), but=peer)
            if self._desks.meant(window.session) is window:
                self._outbox.tell_plain_pages(window.session, StateUpdate(shown), but=peer)

    def seen(self, view: View, rev: int) -> None:
        view.state_seen = max(view.state_seen, min(rev, view.state_sent))
        self.send(view)

    def send(self, view: View) -> None:
        """Send what the view lacks, unless an update is still on its way."""
        state = view.window.state
        if view.state_sent > view.state_seen or state.rev == view.state_sent or not self._outbox.greeted(view.peer):
            return
        data = state.since(view.state_sent, view.id)
        view.state_sent = state.rev
        if data:
            self._outbox.send(view.peer, StateUpdate(data, view.window.id, view.id, state.rev))
        else:
            view.state_seen = state.rev
