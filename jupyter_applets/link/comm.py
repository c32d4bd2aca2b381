"""CommPipe: the frames of one page over a widget's comm, numbered, so that what Jupyter drops is sent again.

Jupyter drops comm messages beyond about 1,000 a second without a word, so a pipe sends at most one frame a tick.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

KEPT_FRAMES = 256
KEPT_UNREAD = 8
"""So many frames may be on their way to a page that reads a file."""
STALL = 10.0
TICK = 0.004


class CommPipe:
    """One page's side of a comm, as the host sees it. All methods are for the host's thread.

    `send` puts one comm message; `later(delay, function)` runs something on this thread.
    """

    def __init__(
        self, page: str, send: Callable[[dict[str, Any]], None], later: Callable[[float, Callable[[], None]], Any]
    ) -> None:
        self._page = page
        self._send = send
        self._later = later
        self._queue: list[Any] = []
        self._waiting = False
        self._movers: list[asyncio.Future[None]] = []
        self.restart()

    def restart(self) -> None:
        """The page said hello: both sides count from one again."""
        self._sent = 0
        self._received = 0
        self._again: deque[dict[str, Any]] = deque()
        self._kept: deque[dict[str, Any]] = deque(maxlen=KEPT_FRAMES)

    def put(self, messages: list[Any]) -> None:
        """Send messages, together with whatever else comes within a tick."""
        self._queue += messages
        if not self._waiting:
            self._flush()

    async def drained(self) -> None:
        """Wait until what was put has been sent, and most of it taken."""
        while self._queue or len(self._kept) >= KEPT_UNREAD:
            moved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._movers.append(moved)
            # A page that went away without a word acknowledges nothing any more.
            await asyncio.wait([moved], timeout=STALL)
            if not moved.done():
                return

    def accept(self, frame: dict[str, Any]) -> list[Any]:
        """The messages of a frame from the page; none for one that came twice."""
        for kept in list(self._kept):
            if kept["seq"] <= _int(frame.get("ack")):
                self._kept.popleft()
        self._moved()
        seq = _int(frame.get("seq"))
        if seq <= self._received:
            return []
        self._received = seq
        messages = frame.get("messages")
        return messages if isinstance(messages, list) else []

    def resend(self, expected: int) -> None:
        """The page misses a frame: send all from that one on, or, when it is no longer kept, start over."""
        if self._kept and self._kept[0]["seq"] <= expected:
            self._again = deque(frame for frame in self._kept if frame["seq"] >= expected)
            if not self._waiting:
                self._flush()
        elif expected <= self._sent:
            self._send({"kind": "reset", "page": self._page})

    def _flush(self) -> None:
        self._waiting = bool(self._queue or self._again)
        if not self._waiting:
            return
        if self._again:
            self._send(self._again.popleft())
        else:
            self._send_new()
        self._later(TICK, self._flush)

    def _moved(self) -> None:
        movers, self._movers = self._movers, []
        for mover in movers:
            if not mover.done():
                mover.set_result(None)

    def _send_new(self) -> None:
        self._sent += 1
        frame = {
            "kind": "frame",
            "page": self._page,
            "seq": self._sent,
            "messages": msgspec.to_builtins(self._queue),
        }
        self._queue = []
        self._kept.append(frame)
        self._send(frame)
        self._moved()


def _int(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
