"""Runs a Host on an asyncio loop: gives it the time, carries out its effects, one batch a peer and turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Literal

from .effects import Effect, Send, WakeAt
from .host import Host

log = logging.getLogger("jupyter_applets.host")


class Driver:
    """Owns the host's alarm and the way to each peer. All methods are for the loop's own thread."""

    def __init__(self, host: Host, loop: asyncio.AbstractEventLoop) -> None:
        self.host = host
        self._loop = loop
        self._sinks: dict[str, Callable[[list[Any]], None]] = {}
        self._alarm: asyncio.TimerHandle | None = None

    def connect(
        self, peer: str, role: Literal["kernel", "page"], session: str, sink: Callable[[list[Any]], None]
    ) -> None:
        """`sink` takes each batch of messages for this peer; it must not block."""
        self._sinks[peer] = sink
        self._carry_out(self.host.connect(peer, role, session, self._loop.time()))

    def receive(self, peer: str, messages: Iterable[Any]) -> None:
        if peer not in self._sinks:
            return
        now = self._loop.time()
        effects: list[Effect] = []
        for message in messages:
            try:
                effects += self.host.receive(peer, message, now)
            except Exception:
                log.exception("a message of %s failed inside the host", peer)
                effects += self.host.recover()
        self._carry_out(effects)

    def disconnect(self, peer: str) -> None:
        if self._sinks.pop(peer, None) is not None:
            self._carry_out(self.host.disconnect(peer, self._loop.time()))

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._sinks.clear()

    def _wake(self) -> None:
        self._alarm = None
        self._carry_out(self.host.wake(self._loop.time()))

    def _carry_out(self, effects: list[Effect]) -> None:
        batches: dict[str, list[Any]] = {}
        for effect in effects:
            match effect:
                case Send(peer=peer, message=message):
                    batches.setdefault(peer, []).append(message)
                case WakeAt(at=at):
                    if self._alarm is not None:
                        self._alarm.cancel()
                    self._alarm = self._loop.call_at(at, self._wake)
        for peer, batch in batches.items():
            sink = self._sinks.get(peer)
            if sink is not None:
                try:
                    sink(batch)
                except Exception:
                    log.exception("what was for %s could not be sent", peer)
