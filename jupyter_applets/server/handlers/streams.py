"""`api/stream/{streamId}`: what happens in a turn, as server-sent events. A reader that comes back misses nothing.

An event's id is `<host>-<number>-<length>`: of this host, the number says where to go on; of another, which has been
restarted since, the length of the answer that was read then.
"""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
from tornado import iostream, web

from ...errors import Cancelled, Forbidden, StreamNotFound
from ...host.sessions import Event, Turn
from ...protocol.sessions import ChatMessage
from .sessions import SessionRoute

ALIVE = 15.0
"""Something is sent at least this often, so that nobody in between thinks the connection dead."""


class StreamHandler(SessionRoute):
    @web.authenticated
    async def get(self, stream_id: str) -> None:
        turn = self.driver.host.sessions.turn(stream_id)
        if turn is None:
            await self._tell_past(stream_id)
            return
        self._check(turn)
        self._begin()
        at = self._resumed(turn)
        if at is None:
            self.set_status(204)
            return
        with contextlib.suppress(iostream.StreamClosedError):
            while True:
                while at < len(turn.events):
                    events = turn.events[at : at + 500]
                    for number, event in enumerate(events, at + 1):
                        self._write_event(event, number)
                    at += len(events)
                    await self.flush()
                if not turn.under_way:
                    break
                try:
                    await asyncio.wait_for(self.driver.news(turn.id), ALIVE)
                except asyncio.TimeoutError:
                    self.write(b": still here\n\n")
                    await self.flush()

    @web.authenticated
    async def delete(self, stream_id: str) -> None:
        """Stop the agent."""
        turn = self.driver.host.sessions.turn(stream_id)
        if turn is None:
            raise StreamNotFound(f"There is no turn {stream_id!r} under way.")
        self._check(turn)
        self.driver.apply(lambda host: host.turns.cancel(turn, Cancelled("Stopped.")))
        self.answer({"ok": True, "streamId": stream_id})

    def _check(self, turn: Turn) -> None:
        """An applet reads and stops what it began itself, and reads what its notebook shows."""
        if self.window is None or turn.window is self.window:
            return
        self.check_reading(turn.session)
        if turn.hidden or self.request.method == "DELETE":
            raise Forbidden("That turn is another's.")

    def _begin(self) -> None:
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Accel-Buffering", "no")
        stream = getattr(self.request.connection, "stream", None)
        if stream is not None:
            stream.set_nodelay(True)

    @property
    def _last(self) -> tuple[str, int, int] | None:
        """What the reader has: the host, the event's number, and the length of the answer then."""
        given = self.request.headers.get("Last-Event-ID") or self.argument("lastEventId") or ""
        host, _, rest = given.partition("-")
        number, _, length = rest.partition("-")
        return (host, int(number), int(length)) if number.isdecimal() and length.isdecimal() else None

    def _resumed(self, turn: Turn) -> int | None:
        """Where to go on; None when the reader has it all."""
        last = self._last
        if last is None:
            return 0
        host, number, length = last
        if host == self._host_id:
            return None if number >= len(turn.events) and not turn.under_way else min(number, len(turn.events))
        # Another host told the beginning. The text that is new to the reader comes as one event.
        if turn.length > length:
            fresh = turn.text[length:]
            self._write_event(_delta(fresh, turn.length), len(turn.events))
        return len(turn.events) if turn.under_way else len(turn.events) - 2

    async def _tell_past(self, stream_id: str) -> None:
        """Of a turn that ended long ago: what was said."""
        named = self.argument("session")
        sessions = [await self.loaded(named)] if named is not None else list(self.driver.host.sessions)
        for session in sessions:
            self.check_reading(session)
            number = session.number_of(stream_id)
            answers = [m for m in session.past[number] if m.role == "assistant"] if number is not None else []
            if answers:
                self._begin()
                self._write_past(answers[0])
                return
        raise StreamNotFound(f"There is no stream {stream_id!r}. Of one that ended long ago, name its ?session=.")

    def _write_past(self, answer: ChatMessage) -> None:
        last = self._last
        read = last[2] if last is not None else 0
        failed = {"error": answer.error} if answer.error is not None else {}
        if len(answer.content) > read:
            self._write_event(_delta(answer.content[read:], len(answer.content)), 1)
        length = len(answer.content)
        self._write_event(Event("assistant.message", {"content": answer.content, **failed}, length), 2)
        self._write_event(Event("done", {"streamId": answer.stream_id, **failed}, length), 3)

    @property
    def _host_id(self) -> str:
        return self.driver.host.id[:8]

    def _write_event(self, event: Event, number: int) -> None:
        data = msgspec.json.encode({"type": event.name, **event.data})
        head = f"id: {self._host_id}-{number}-{event.length}\nevent: {event.name}\ndata: "
        self.write(head.encode() + data + b"\n\n")


def _delta(text: str, length: int) -> Event:
    return Event("assistant.message_delta", {"deltaContent": text, "delta": text}, length)
