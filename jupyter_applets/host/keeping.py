"""Keeps what was said in sessions: lines for their journals, written beside the loop and in order.

What cannot be written is told in the log; the conversation goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AppletError
from ..protocol.base import Json
from ..protocol.markers import mark
from ..protocol.sessions import ToolCall
from .effects import Perform
from .outbox import Outbox, log
from .sessions import Session, Turn


class Keeping:
    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def load(self, session: Session, then: Callable[[], None]) -> None:
        """Have the session's messages in memory, then go on. At once where they are there."""
        if session.loaded:
            then()
            return
        session.then.append(then)
        if len(session.then) > 1:
            return

        def done(outcome: Any) -> None:
            if isinstance(outcome, AppletError):
                log.warning("the messages of session %r cannot be read: %s", session.id, outcome.message)
            else:
                info, messages = outcome
                if info is not None:
                    session.parent, session.made = session.parent or info.parent, session.made or info.made
                session.take_past(messages)
            session.loaded = True
            waiting, session.then = session.then, []
            for go_on in waiting:
                try:
                    go_on()
                except Exception:
                    log.exception("what waited for the messages of session %r failed", session.id)

        def work(services: Any) -> Any:
            return services.sessions.info(session.id), services.sessions.history(session.id)

        self._outbox.add(Perform(work, done))

    def asked(self, turn: Turn) -> None:
        data: dict[str, Json] = {"content": mark(turn.source, turn.slug, turn.prompt)}
        if turn.image is not None:
            data["image"] = turn.image
        self._line(turn, "user.message", data, turn.timestamp)
        turn.session.meta_dirty = True
        self._write_meta(turn.session)

    def called(self, turn: Turn, call: ToolCall, timestamp: str) -> None:
        data: dict[str, Json] = {"toolCallId": call.id, "toolName": call.name}
        if not call.done:
            self._line(turn, "tool.execution_start", {**data, "arguments": call.arguments}, timestamp)
            return
        data["success"] = call.error is None
        outcome = {"result": call.result} if call.error is None else {"error": call.error}
        self._line(turn, "tool.execution_complete", {**data, **outcome}, timestamp)

    def answered(self, turn: Turn, timestamp: str) -> None:
        data: dict[str, Json] = {"content": turn.text}
        if turn.error is not None:
            data |= {"error": turn.error, "code": turn.code}
        self._line(turn, "assistant.message", data, timestamp)

    def _line(self, turn: Turn, kind: str, data: dict[str, Json], timestamp: str) -> None:
        line: dict[str, Json] = {"type": kind, "data": data, "timestamp": timestamp, "streamId": turn.id}
        if turn.hidden:
            line["hidden"] = True
        session = turn.session.id

        def done(outcome: Any) -> None:
            if isinstance(outcome, AppletError):
                self._outbox.log_once(f"what was said in session {session!r} is not kept: {outcome.message}")

        self._outbox.add(Perform(lambda services: services.sessions.append(session, [line]), done))

    def _write_meta(self, session: Session) -> None:
        """The supplement is written whole, so once for however many messages came while it was written."""
        if session.meta_writing:
            return
        session.meta_writing, session.meta_dirty = True, False
        rows = [
            {"timestamp": m.timestamp, "source": m.source, "appletSlug": m.applet_slug, "prompt": m.content}
            for m in session.messages(hidden=True)
            if m.role == "user"
        ]

        def done(outcome: Any) -> None:
            session.meta_writing = False
            if session.meta_dirty:
                self._write_meta(session)

        self._outbox.add(Perform(lambda services: services.sessions.write_meta(session.id, rows), done))
