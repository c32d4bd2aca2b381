"""Sessions and their turns, as far as they are in memory: who said what, and what is under way.

A turn is one prompt and what the agent makes of it. `turns` decides what becomes of it; here it is only kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from msgspec import structs

from ..protocol import sessions as wire
from ..protocol.base import Json
from ..protocol.sessions import ChatMessage, HistoryItem, InteractionItem, Output, Source, ToolCall
from .requests import Caller
from .windows import Window

MAX_LOADED = 200
"""Of more sessions, those that nobody uses leave the memory."""
MAX_ENDED = 500
"""Of more turns that have ended, what happened on the way is forgotten; what was said is in the history."""
MAX_INTERACTIONS = 100
HISTORY_ITEMS = 60
HISTORY_CHARACTERS = 200_000
"""How much of what was said before an agent is handed."""


class Event(NamedTuple):
    """Something that happened in a turn, as the readers of its stream are told."""

    name: str
    data: dict[str, Json]
    length: int
    """How long the answer was then: where a reader goes on who has read this one from another host."""


@dataclass(eq=False)
class Turn:
    """One prompt and its answer. `agent` is the peer that was asked; `waiting` whoever gets the result."""

    id: str
    number: int
    session: Session
    prompt: str
    source: Source
    timestamp: str
    slug: str | None = None
    window: Window | None = None
    hidden: bool = False
    image: str | None = None
    image_data: str | None = None
    correlation_id: str | None = None
    depth: int = 0
    nested: bool = False
    """An applet asked in the middle of a command of another turn, which must not have to wait for itself."""
    waiting: Caller | None = None
    expects: tuple[str, ...] = ()
    due: float | None = None
    status: Literal["queued", "running", "done"] = "queued"
    why: str = ""
    """What it waits for, in words."""
    agent: str | None = None
    kernel: str | None = None
    """The kernel's own id, which is the same after a cut."""
    taken: bool = False
    lost_at: float | None = None
    """When the agent's connection was cut."""
    parts: list[str] = field(default_factory=list)
    length: int = 0
    calls: dict[str, ToolCall] = field(default_factory=dict)
    open_calls: dict[str, Caller] = field(default_factory=dict)
    """By the tool call, the call that is not replied to yet."""
    outputs: list[Output] = field(default_factory=list)
    state: dict[str, Json] = field(default_factory=dict)
    error: str | None = None
    code: str | None = None
    interactions: list[InteractionItem] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def text(self) -> str:
        if len(self.parts) > 1:
            self.parts = ["".join(self.parts)]
        return self.parts[0] if self.parts else ""

    @property
    def under_way(self) -> bool:
        return self.status != "done"

    def add(self, delta: str, at: int) -> str:
        """More of the answer; gives what of it is new. What came twice is left out; after a gap nothing is taken."""
        if at > self.length:
            return ""
        fresh = delta[self.length - at :]
        if fresh:
            self.parts.append(fresh)
            self.length += len(fresh)
        return fresh

    def note(self, name: str, /, **data: Json) -> None:
        self.events.append(Event(name, data, self.length))

    def asked(self) -> ChatMessage:
        return ChatMessage(
            2 * self.number,
            "user",
            self.source,
            self.prompt,
            self.timestamp,
            self.id,
            self.slug,
            self.hidden,
            image=self.image,
        )

    def answered(self) -> ChatMessage:
        return ChatMessage(
            2 * self.number + 1,
            "assistant",
            "assistant",
            self.text,
            self.timestamp,
            self.id,
            hidden=self.hidden,
            status=self.status,
            error=self.error if self.status == "done" else self.why or None,
            tool_calls=list(self.calls.values()),
            outputs=list(self.outputs),
        )

    def result(self) -> dict[str, Json]:
        """What the one who invoked gets."""
        calls = [
            {"name": call.name, "arguments": call.arguments}
            | ({"error": call.error} if call.error is not None else {"result": call.result})
            for call in self.calls.values()
        ]
        return {"text": self.text, "state": dict(self.state), "toolCalls": calls}


@dataclass(eq=False)
class Session:
    """One conversation. Its messages are read from the disk when they are first needed (`loaded`)."""

    id: str
    parent: str | None = None
    made: bool = False
    """It was made by a call, not by a notebook: it has no kernel of its own, so others answer in it."""
    loaded: bool = False
    then: list[Callable[[], None]] = field(default_factory=list)
    """What waits for the messages to be there."""
    past: list[list[ChatMessage]] = field(default_factory=list)
    """By turn, what was said; of one that is under way, nothing yet."""
    queue: deque[Turn] = field(default_factory=deque)
    running: list[Turn] = field(default_factory=list)
    interactions: deque[InteractionItem] = field(default_factory=lambda: deque(maxlen=MAX_INTERACTIONS))
    meta_dirty: bool = False
    meta_writing: bool = False

    @property
    def idle(self) -> bool:
        return not self.queue and not self.running and not self.then

    def take_past(self, messages: Iterable[ChatMessage]) -> None:
        """What the disk has, before whatever came meanwhile."""
        by_turn: dict[str, list[ChatMessage]] = {}
        for message in messages:
            by_turn.setdefault(message.stream_id, []).append(message)
        self.past = list(by_turn.values())
        self.loaded = True

    def begin(self) -> int:
        """The number of the next turn."""
        self.past.append([])
        return len(self.past) - 1

    def number_of(self, stream_id: str) -> int | None:
        """The number of a turn of which something is known."""
        found = (
            n for n in range(len(self.past) - 1, -1, -1) if self.past[n] and self.past[n][0].stream_id == stream_id
        )
        return next(found, None)

    def under_way(self) -> list[Turn]:
        return [*self.running, *self.queue]

    def messages(
        self, before: int | None = None, limit: int | None = None, *, hidden: bool = False
    ) -> list[ChatMessage]:
        """What was said, the oldest first: the last `limit` ones before an index."""
        current = {turn.number: turn for turn in self.under_way()}
        found: list[ChatMessage] = []
        for number in range(len(self.past) - 1, -1, -1):
            if before is not None and 2 * number >= before:
                continue
            turn = current.get(number)
            said = [turn.asked(), turn.answered()] if turn is not None else self.past[number]
            for message in reversed(said):
                if hidden or not message.hidden:
                    index = 2 * number + (message.role == "assistant")
                    found.append(message if message.index == index else structs.replace(message, index=index))
            if limit is not None and len(found) >= limit:
                break
        return found[::-1]

    def history(self, turn: Turn) -> list[HistoryItem]:
        """What an agent is told of what was said before this turn."""
        items: list[HistoryItem] = []
        characters = 0
        for message in reversed(self.messages(before=2 * turn.number, limit=HISTORY_ITEMS, hidden=True)):
            characters += len(message.content)
            if len(items) >= HISTORY_ITEMS or characters > HISTORY_CHARACTERS:
                break
            if message.role == "user" or message.content:
                items.append(HistoryItem(message.role, message.content, message.source, message.applet_slug))
        return items[::-1]


class Sessions:
    """Every session that is in memory, and the turns of which more is known than what was said."""

    def __init__(self) -> None:
        self._all: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}
        self._ended: deque[str] = deque()
        self.active: str | None = None
        """The session that a person last turned to."""

    def __iter__(self) -> Any:
        return iter(self._all.values())

    def get(self, session_id: str) -> Session | None:
        return self._all.get(session_id)

    def open(self, session_id: str, *, parent: str | None = None, made: bool = False) -> Session:
        session = self._all.pop(session_id, None) or Session(session_id, parent, made)
        self._all[session_id] = session  # as the one used last
        for old in [s for s in self._all.values() if s.idle][: max(0, len(self._all) - MAX_LOADED)]:
            del self._all[old.id]
        return session

    def turn(self, stream_id: str) -> Turn | None:
        return self._turns.get(stream_id)

    def add(self, turn: Turn) -> None:
        self._turns[turn.id] = turn

    def ended(self, turn: Turn) -> None:
        """Of the oldest that have ended, no more is known than what was said."""
        self._ended.append(turn.id)
        if len(self._ended) > MAX_ENDED:
            self._turns.pop(self._ended.popleft(), None)

    def under_way(self) -> list[Turn]:
        return [turn for session in self._all.values() for turn in session.under_way()]


def to_agent(turn: Turn) -> wire.Turn:
    """The turn as the kernel that answers it gets it."""
    return wire.Turn(
        turn.id,
        turn.session.id,
        turn.prompt,
        turn.source,
        turn.timestamp,
        turn.slug,
        turn.window.id if turn.window is not None else None,
        turn.window.session if turn.window is not None else None,
        turn.session.history(turn),
        turn.interactions,
        turn.image_data,
        turn.correlation_id,
        turn.hidden,
        turn.depth,
    )
