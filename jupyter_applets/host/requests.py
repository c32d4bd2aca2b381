"""Requests under way: one ask to one window each, found by id, caller, window, view and time.

This is the table of the seed's ActionEmitter: a request that `waits` is a waitForAppReady, one that is `in_view` an
emitAppProtocolRequest; `pop` is where resolveAppProtocolResponse gets the one it resolves.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from ..protocol.app import Ask, CommandAsk
from .windows import View, Window


class Caller(NamedTuple):
    """Who is to be answered, and under which id."""

    peer: str
    call: str


@dataclass(eq=False)
class Request:
    """One ask to one window. Without a view it waits for one to be ready; without a caller nobody waits for it.

    A command whose caller has gone stays known until its answer comes: if it did run, it belongs in the log.
    """

    id: str
    window: Window
    ask: Ask
    caller: Caller | None
    due: float
    """When to give up next: the end of the readiness wait, then the deadline."""
    deadline: float
    view: View | None = None
    copy: tuple[str, int] | None = None
    seq: int = 0
    revision: int = 0
    """The content that was asked. What the content before it did is no part of this one's log."""
    usual: float | None = None
    """How long an applet may take where the caller did not say: from the sending on."""
    note: str | None = None

    @property
    def is_command(self) -> bool:
        return isinstance(self.ask, CommandAsk)


class Requests:
    """The table of requests. It only keeps them; what becomes of them is decided in `calls` and `restore`."""

    def __init__(self) -> None:
        self._by_id: dict[str, Request] = {}
        self._by_caller: dict[Caller, Request] = {}
        self._by_peer: Counter[str] = Counter()
        self._by_place: dict[Window | View, dict[str, Request]] = {}
        self._times: list[tuple[float, str]] = []
        self._made = 0

    def count_of(self, peer: str) -> int:
        """How many calls of this peer have no reply yet."""
        return self._by_peer[peer]

    def new_id(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}-{self._made}"

    def add(self, request: Request) -> None:
        self._by_id[request.id] = request
        if request.caller is not None:
            self._by_caller[request.caller] = request
            self._by_peer[request.caller.peer] += 1
        self._by_place.setdefault(request.view or request.window, {})[request.id] = request
        self.reschedule(request, request.due)

    def move(self, request: Request, view: View) -> None:
        """The request goes to this view now."""
        self._leave(request)
        request.view, request.copy = view, view.copy
        self._by_place.setdefault(view, {})[request.id] = request

    def reschedule(self, request: Request, due: float) -> None:
        request.due = due
        heapq.heappush(self._times, (due, request.id))

    def get(self, request_id: str) -> Request | None:
        return self._by_id.get(request_id)

    def of(self, caller: Caller) -> Request | None:
        return self._by_caller.get(caller)

    def of_peer(self, peer: str) -> list[Request]:
        return [request for caller, request in self._by_caller.items() if caller.peer == peer]

    def waiting(self, window: Window) -> list[Request]:
        return list(self._by_place.get(window, {}).values())

    def in_view(self, view: View) -> list[Request]:
        return list(self._by_place.get(view, {}).values())

    def pop(self, request: Request) -> None:
        self._by_id.pop(request.id, None)
        self._leave(request)
        self.orphan(request)

    def orphan(self, request: Request) -> None:
        """Nobody waits for it any more."""
        if request.caller is not None:
            self._by_caller.pop(request.caller, None)
            self._by_peer[request.caller.peer] -= 1
            if not self._by_peer[request.caller.peer]:
                del self._by_peer[request.caller.peer]
            request.caller = None

    def due(self, now: float) -> list[Request]:
        """The requests whose time has come."""
        found = []
        while self._times and self._times[0][0] <= now:
            request = self._current(*heapq.heappop(self._times))
            if request is not None:
                found.append(request)
        return found

    @property
    def next_due(self) -> float | None:
        while self._times:
            if self._current(*self._times[0]) is not None:
                return self._times[0][0]
            heapq.heappop(self._times)
        return None

    def _current(self, at: float, request_id: str) -> Request | None:
        request = self._by_id.get(request_id)
        return request if request is not None and request.due == at else None

    def _leave(self, request: Request) -> None:
        place = request.view or request.window
        there = self._by_place.get(place, {})
        there.pop(request.id, None)
        if not there:
            self._by_place.pop(place, None)
