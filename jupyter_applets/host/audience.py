"""Who is told what happens in a turn: pages of the session, those that show its chat, and whoever waits for the result.

What is hidden is told to the one who invoked alone; that it began and ended, to all.
"""

from __future__ import annotations

from typing import Any, Literal

from ..protocol.base import Json
from ..protocol.link import ErrorReply, Result
from ..protocol.sessions import (
    InvokeComplete,
    MessageDone,
    MessageStarted,
    MessageStatus,
    StreamConnected,
    StreamDelta,
    StreamReady,
)
from .effects import Tell
from .outbox import Outbox
from .requests import Caller
from .sessions import Session, Turn


class Audience:
    """`chats` are the pages that show the chat of their session."""

    def __init__(self, outbox: Outbox, chats: set[str]) -> None:
        self._outbox = outbox
        self._chats = chats

    def started(self, turn: Turn) -> None:
        started = MessageStarted(
            turn.prompt,
            turn.source,
            turn.id,
            not turn.hidden,
            turn.slug,
            turn.session.id,
            turn.timestamp,
            2 * turn.number,
            turn.image,
            turn.correlation_id,
        )
        for message in (started, StreamReady(turn.id), StreamConnected(turn.id)):
            self._tell_all(turn.session, message)

    def status(self, turn: Turn) -> None:
        status: Literal["queued", "running"] = "running" if turn.status == "running" else "queued"
        self.event(turn, "message.status", status=status, message=turn.why)
        self.show(turn, MessageStatus(turn.id, status, turn.why), plain=False)
        if (waiting := self._page_waiting(turn)) is not None and waiting.call:
            self._outbox.send(waiting.peer, MessageStatus(turn.id, status, turn.why, waiting.call))

    def text(self, turn: Turn, fresh: str, at: int) -> None:
        self.event(turn, "assistant.message_delta", deltaContent=fresh, delta=fresh)
        self.show(turn, StreamDelta(fresh, turn.id, at))
        if (waiting := self._page_waiting(turn)) is not None:
            self._outbox.send(waiting.peer, StreamDelta(fresh, turn.id, at, waiting.call or None))

    def done(self, turn: Turn) -> None:
        failed = {"error": turn.error, "code": turn.code} if turn.error is not None else {}
        turn.note("assistant.message", content=turn.text, **failed)
        self.event(turn, "done", streamId=turn.id, **failed)
        self._tell_all(turn.session, MessageDone(turn.id, turn.error, turn.code, turn.length))

    def complete(self, waiting: Caller, result: Json, error: str | None, code: str | None) -> None:
        """The one reply to who invoked and waits: a page, or a kernel's call."""
        peer = self._outbox.peers.get(waiting.peer)
        if peer is None or peer.role == "page":
            reply: Any = InvokeComplete(waiting.call or None, None if error else result, error, code)
        elif error is not None:
            reply = ErrorReply(code or "AGENT_FAILED", error, waiting.call)
        else:
            reply = Result(waiting.call, result)
        self._outbox.send(waiting.peer, reply)

    def event(self, turn: Turn, name: str, /, **data: Json) -> None:
        """For those who read the turn's stream."""
        turn.note(name, **data)
        self._outbox.add(Tell(turn.id))

    def show(self, turn: Turn, message: Any, *, plain: bool = True) -> None:
        """Chats, and pages that know only the seed, unless it is hidden."""
        if turn.hidden:
            return
        told = turn.waiting.peer if turn.waiting is not None and not turn.waiting.call else None
        for peer, known in self._outbox.peers.items():
            if known.role != "page" or known.session != turn.session.id or known.refused is not None:
                continue
            if peer in self._chats or (plain and not known.greeted and peer != told):
                self._outbox.send(peer, message)

    def _tell_all(self, session: Session, message: Any) -> None:
        for peer, known in self._outbox.peers.items():
            if known.role == "page" and known.session == session.id and known.refused is None:
                self._outbox.send(peer, message)

    def _page_waiting(self, turn: Turn) -> Caller | None:
        peer = self._outbox.peers.get(turn.waiting.peer) if turn.waiting is not None else None
        return turn.waiting if peer is not None and peer.role == "page" else None
