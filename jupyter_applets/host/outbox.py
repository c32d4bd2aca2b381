"""What leaves the host: messages to peers, notes to applet authors, and the time to be woken at."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import AppletError, ProtocolMismatch
from ..protocol.app import AppProtocolRequest
from ..protocol.link import ConsoleEntry, ConsoleLines, ErrorReply, Result
from .effects import Effect, Send, WakeAt
from .requests import Caller, Request
from .windows import View, Window

log = logging.getLogger("jupyter_applets.host")


@dataclass
class Peer:
    """One connection. `refused` is what it is told for everything after a hello of another protocol version.

    A page that has not `greeted` may be a client that knows only the seeds' messages.
    """

    role: Literal["kernel", "page"]
    session: str
    greeted: bool = False
    id: str = ""
    """What it calls itself: the same after a reconnect."""
    refused: ProtocolMismatch | None = None


class Outbox:
    """Collects the effects of one message. `now` is the time of that message."""

    def __init__(self) -> None:
        self.peers: dict[str, Peer] = {}
        self.now = 0.0
        self._effects: list[Effect] = []
        self._wake_at: float | None = None
        self._logged: set[str] = set()
        self._looked_out_for: dict[Caller, Callable[[Result | ErrorReply], None]] = {}

    def send(self, peer: str, message: Any) -> None:
        if peer in self.peers:
            self._effects.append(Send(peer, message))
            if self._looked_out_for and isinstance(message, Result | ErrorReply):
                replied = self._looked_out_for.pop(Caller(peer, message.id or ""), None)
                if replied is not None:
                    replied(message)

    def look_out(self, caller: Caller, replied: Callable[[Result | ErrorReply], None]) -> None:
        """`replied` sees the reply to this call, too."""
        self._looked_out_for[caller] = replied

    def drop(self, peer: str) -> None:
        """The peer is gone, and gets no reply any more."""
        for caller in [caller for caller in self._looked_out_for if caller.peer == peer]:
            del self._looked_out_for[caller]

    def send_error(self, peer: str, error: AppletError, call: str | None = None) -> None:
        self.send(peer, ErrorReply(error.code, error.message, call, error.names))

    def send_request(self, request: Request, view: View) -> None:
        """Put a request to the view that answers it."""
        self.send(
            view.peer,
            AppProtocolRequest(
                request.id,
                request.window.id,
                request.ask,
                seq=request.seq,
                timeout_ms=round((request.deadline - self.now) * 1000),
                view_id=view.id,
            ),
        )

    def tell_kernels(self, session: str, message: Any, but: str | None = None) -> None:
        for peer, known in self.peers.items():
            if known.role == "kernel" and known.session == session and known.refused is None and peer != but:
                self.send(peer, message)

    def tell_plain_pages(self, session: str, message: Any, but: str | None = None) -> None:
        """Those that never said hello: they have no views, and mean their session's active window."""
        for peer, known in self.peers.items():
            if known.role == "page" and known.session == session and not known.greeted and peer != but:
                self.send(peer, message)

    def greeted(self, peer: str) -> bool:
        return peer in self.peers and self.peers[peer].greeted

    def add(self, effect: Effect) -> None:
        self._effects.append(effect)

    def note(self, window: Window, level: Literal["warn", "error"], text: str) -> None:
        """Say something to the applet's author, where the applet's own console lines are."""
        entry = ConsoleEntry(level, [f"[host] {text}"], 0.0)
        window.console.append(entry)
        self.tell_kernels(window.session, ConsoleLines(window.id, [entry]))

    def log_once(self, text: str) -> None:
        if text not in self._logged and len(self._logged) < 1_000:
            self._logged.add(text)
            log.warning("%s", text)

    def woken(self) -> None:
        self._wake_at = None

    def take(self, wake_at: float | None) -> list[Effect]:
        """All effects since the last time, and a WakeAt when the shell's alarm is set too late."""
        if wake_at is not None and (self._wake_at is None or wake_at < self._wake_at):
            self._wake_at = wake_at
            self._effects.append(WakeAt(wake_at))
        effects, self._effects = self._effects, []
        return effects
