"""The life of a turn: it is asked, waits for its session's agent, and ends exactly once. `answers` is between.

In a session one turn is answered after the other. Only what an applet asks in the middle of a command of the agent's
goes in between: the agent waits for that command, and so for its answer.
"""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from collections.abc import Callable
from typing import Any, TypeAlias

from ..errors import (
    AgentLost,
    AppletError,
    CallTimeout,
    InvalidArguments,
    NoAgent,
    StateMissing,
    TooLarge,
    TooManyCalls,
)
from ..protocol.sessions import MAX_IMAGE, MAX_PROMPT, Source, TurnCancel
from .agents import Agents
from .audience import Audience
from .effects import Perform
from .keeping import Keeping
from .outbox import Outbox
from .sessions import Session, Sessions, Turn, to_agent

MAX_QUEUED = 100
"""How many turns may wait in one session."""
LOST_AFTER = 5.0
"""How long a kernel whose connection was cut may take to come back to its turn."""
MAX_TIMEOUT = 1e9

_IMAGE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)")

Began: TypeAlias = "Callable[[Turn | AppletError], None]"


class Turns:
    def __init__(
        self,
        outbox: Outbox,
        sessions: Sessions,
        agents: Agents,
        keeping: Keeping,
        audience: Audience,
        clock: Callable[[], str],
    ) -> None:
        self._outbox = outbox
        self._sessions = sessions
        self._agents = agents
        self._keeping = keeping
        self._audience = audience
        self._clock = clock
        self._timed: set[Turn] = set()
        """Those that may end by the clock."""

    # ---- the beginning

    def start(
        self,
        session: Session,
        prompt: str,
        source: Source,
        began: Began,
        *,
        image_data: str | None = None,
        timeout: float | None = None,
        **known: Any,
    ) -> None:
        """Say something in a session. `began` gets the turn, or why there is none. `timeout` is in milliseconds.

        `known` is more of the turn. What is wrong with the prompt raises here."""
        if not prompt.strip() and image_data is None:
            raise InvalidArguments("The prompt is empty.")
        if len(prompt) > MAX_PROMPT:
            raise TooLarge(f"The prompt has {len(prompt):,} characters; the limit is {MAX_PROMPT:,}.")
        if timeout is not None and not 0 < timeout <= MAX_TIMEOUT:
            raise InvalidArguments(f"A timeout is given in milliseconds and is more than 0, not {timeout!r}.")
        mime, image = _image(image_data)
        stream_id = uuid.uuid4().hex
        timestamp = self._clock()

        def begin(image_name: str | None = None) -> None:
            if len(session.queue) >= MAX_QUEUED:
                began(TooManyCalls(f"{MAX_QUEUED} messages wait in session {session.id!r} already."))
                return
            turn = Turn(stream_id, session.begin(), session, prompt, source, timestamp, **known)
            turn.image, turn.image_data = image_name, image_data
            if timeout is not None:
                turn.due = self._outbox.now + timeout / 1000
                self._timed.add(turn)
            self._begin(turn)
            began(turn)
            self._ask_next(session)

        def kept(outcome: Any) -> None:
            if isinstance(outcome, AppletError):
                began(outcome)
            else:
                begin(outcome.name)

        def loaded() -> None:
            if image is None:
                begin()
            else:
                self._outbox.add(Perform(put_output(session.id, stream_id, mime, image, ""), kept))

        self._keeping.load(session, loaded)

    def _begin(self, turn: Turn) -> None:
        self._sessions.add(turn)
        turn.session.queue.append(turn)
        self._keeping.asked(turn)
        self._audience.event(
            turn,
            "message.started",
            streamId=turn.id,
            sessionId=turn.session.id,
            prompt=turn.prompt,
            source=turn.source,
            appletSlug=turn.slug,
            timestamp=turn.timestamp,
        )
        self._audience.started(turn)

    def _ask_next(self, session: Session) -> None:
        """Put to the agent what may be put to it now."""
        for turn in list(session.queue):
            if turn.nested or all(other.nested for other in session.running):
                session.queue.remove(turn)
                session.running.append(turn)
                self.ask(turn)
            elif not turn.why:
                self.wait(turn, "Waiting for the answer before it.")

    def ask(self, turn: Turn) -> None:
        """Put it to the agent."""
        try:
            agent = self._agents.require(turn.session)
        except NoAgent as e:
            self.end(turn, e)
            return
        if not turn.interactions:
            turn.interactions = list(turn.session.interactions)
            turn.session.interactions.clear()
        turn.agent, turn.kernel, turn.lost_at = agent.peer, agent.kernel, None
        self._outbox.send(agent.peer, to_agent(turn))

    def wait(self, turn: Turn, why: str) -> None:
        """It has to wait, and whoever waits for it is told for what."""
        turn.why = why
        self._audience.status(turn)

    # ---- the end

    def cancel(self, turn: Turn, why: AppletError) -> None:
        if turn.under_way:
            if turn.agent is not None:
                self._outbox.send(turn.agent, TurnCancel(turn.id))
            self.end(turn, why)

    def end(self, turn: Turn, error: AppletError | None = None, code: str | None = None) -> None:
        """Its one end, whatever it is. `code` is the agent's own for its error."""
        if not turn.under_way:
            return
        turn.status = "done"
        if error is not None:
            turn.error, turn.code = error.message, code or error.code
        session = turn.session
        if turn in session.running:
            session.running.remove(turn)
        elif turn in session.queue:
            session.queue.remove(turn)
        session.past[turn.number] = [turn.asked(), turn.answered()]
        self._timed.discard(turn)
        self._keeping.answered(turn, self._clock())
        self._audience.done(turn)
        self._complete(turn)
        self._sessions.ended(turn)
        turn.image_data = None
        self._ask_next(session)

    def _complete(self, turn: Turn) -> None:
        waiting, turn.waiting = turn.waiting, None
        if waiting is None:
            return
        error, code = turn.error, turn.code
        missing = [key for key in turn.expects if key not in turn.state]
        if error is None and missing:
            error, code = f"The agent ended without setting {', '.join(map(repr, missing))}.", StateMissing.code
        self._audience.complete(waiting, turn.result(), error, code)

    # ---- what happens meanwhile

    def drop(self, peer: str) -> None:
        """A connection is gone: an agent's turns wait for it a while; who waited for a result waits no more."""
        self._agents.remove(peer)
        for turn in self._sessions.under_way():
            if turn.agent == peer and turn.lost_at is None:
                turn.lost_at = self._outbox.now
                self._timed.add(turn)
            if turn.waiting is not None and turn.waiting.peer == peer:
                turn.waiting = None

    @property
    def next_due(self) -> float | None:
        return min((due for turn in self._timed if (due := _due(turn)) is not None), default=None)

    def wake(self) -> None:
        now = self._outbox.now
        for turn in list(self._timed):
            due = _due(turn)
            if due is None:
                self._timed.discard(turn)
            elif now < due:
                continue
            elif turn.lost_at is not None and now >= turn.lost_at + LOST_AFTER:
                self.end(turn, AgentLost("The kernel that was answering went away: restart it and ask again."))
            else:
                self.cancel(turn, CallTimeout("The agent did not answer in time."))


def put_output(session: str, stream_id: str, mime: str, data: bytes, title: str) -> Callable[[Any], Any]:
    """The work of keeping what was displayed."""
    return lambda services: services.sessions.put_output(session, stream_id, mime, data, title)


def _due(turn: Turn) -> float | None:
    if not turn.under_way:
        return None
    lost = None if turn.lost_at is None else turn.lost_at + LOST_AFTER
    return min((due for due in (turn.due, lost) if due is not None), default=None)


def _image(url: str | None) -> tuple[str, bytes | None]:
    if url is None:
        return "", None
    if len(url) > MAX_IMAGE:
        raise TooLarge(f"The image is {len(url) / 1e6:.1f} MB as a data URL; the limit is {MAX_IMAGE / 1e6:.1f} MB.")
    match = _IMAGE.fullmatch(url)
    if match is None:
        raise InvalidArguments("imageData is a data URL of a PNG, JPEG, GIF or WebP image, in base64.")
    try:
        return match[1], base64.b64decode(match[2])
    except binascii.Error:
        raise InvalidArguments("imageData is no base64.") from None
