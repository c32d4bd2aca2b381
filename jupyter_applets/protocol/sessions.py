"""Sessions (seed 001, phase 3): messages to agents, their answers as streams, and the chats that show both.

One message of a person, an applet or another agent and what the agent makes of it is a **turn**, named by its
`streamId`. The seed's shapes stand as they are; a plain client sends no `id` and no `windowId`.

    page → host      invoke, invokeCancel (applets); sendMessage, cancelMessage, openChat, closeChat, readOutput (chats)
    host → page      messageStarted, streamReady (= streamConnected), stream, messageDone to all of the session;
                     invokeComplete to who invoked; messageStatus, toolCall, messageOutput, agentStatus to chats
    host → kernel    turn, turnCancel
    kernel → host    agentReady, agentGone, turnTaken, turnWaits, turnDelta, turnOutput; the end of a turn is a call
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .base import Data, Json, Message

Source: TypeAlias = Literal["user", "applet", "agent"]
"""Who a prompt comes from."""

MAX_PROMPT = 1_000_000
"""How long a prompt may be, in characters."""
MAX_IMAGE = 4_000_000
"""How long an image may be, as a data URL."""


class ToolCall(Data, frozen=True):
    """A tool that the agent used in a turn. While it is under way there is neither result nor error."""

    id: str
    name: str
    arguments: Json = None
    result: Json = None
    error: str | None = None
    done: bool = False


class Output(Data, frozen=True):
    """What an agent displayed: the file of the session's `outputs/` that holds it, and its kind."""

    name: str
    mime: str
    title: str = ""


class ChatMessage(Data, frozen=True, omit_defaults=False):
    """One message of a session as chats and the history show it. `index` counts those of the session."""

    index: int
    role: Literal["user", "assistant"]
    source: Literal["user", "applet", "agent", "assistant"]
    content: str
    timestamp: str
    stream_id: str
    applet_slug: str | None = None
    """Of an applet's message: the applet. Of an agent's: the agent."""
    hidden: bool = False
    status: Literal["done", "queued", "running"] = "done"
    error: str | None = None
    tool_calls: list[ToolCall] = []
    outputs: list[Output] = []
    image: str | None = None
    """The name of the output that holds the image which came with a prompt."""


# ---- page → host


class InvokeOptions(Data, frozen=True):
    """`session` is `active`, `background` (this one, out of sight), `new` (a fresh one) or the id of one.
    `timeout` is in milliseconds. `expectState` are keys of the applet's state that the agent is to set."""

    session: str = "active"
    show_in_chat: bool = True
    wait_for_result: bool = True
    background: bool = False
    timeout: float | None = None
    expect_state: list[str] = []


class Invoke(Message, frozen=True, tag="invoke"):
    """An applet calls the agent. `byPerson` says that a person has just acted in the page."""

    prompt: str
    options: InvokeOptions = InvokeOptions()
    background: bool = False
    id: str | None = None
    window_id: str | None = None
    applet_slug: str | None = None
    consent: bool = False
    revision: int | None = None
    by_person: bool = False
    image_data: str | None = None


class InvokeCancel(Message, frozen=True, tag="invokeCancel"):
    id: str


class SendMessage(Message, frozen=True, tag="sendMessage"):
    """A person says something to the session's agent. Answered by a `result` with `{sessionId, streamId}`."""

    prompt: str
    id: str | None = None
    image_data: str | None = None
    applet_state: dict[str, Json] | None = None
    correlation_id: str | None = None


class CancelMessage(Message, frozen=True, tag="cancelMessage"):
    stream_id: str
    id: str | None = None


class OpenChat(Message, frozen=True, tag="openChat"):
    """Show this session's messages: the last ones, or those before an index. Answered by a `result` with a `ChatPage`;
    from then on this page hears of all that happens in the chat."""

    id: str
    before: int | None = None
    limit: int = 200


class CloseChat(Message, frozen=True, tag="closeChat"):
    pass


class ReadOutput(Message, frozen=True, tag="readOutput"):
    """Answered by a `result` with `{name, mime, data}`: text, or base64 where it is none."""

    id: str
    name: str


# ---- host → page


class ChatPage(Data, frozen=True, omit_defaults=False):
    """`messages` without the hidden ones, the oldest first; `start` is where they begin, 0 when nothing is before."""

    session_id: str
    messages: list[ChatMessage]
    start: int
    agent: str | None = None


class MessageStarted(Message, frozen=True, tag="messageStarted", omit_defaults=False):
    prompt: str
    source: Source
    stream_id: str
    show_in_chat: bool
    applet_slug: str | None
    session_id: str
    timestamp: str
    index: int
    image: str | None = None
    correlation_id: str | None = None


class StreamReady(Message, frozen=True, tag="streamReady"):
    stream_id: str


class StreamConnected(Message, frozen=True, tag="streamConnected"):
    """The same in the seed's other word."""

    stream_id: str


class StreamDelta(Message, frozen=True, tag="stream"):
    """More of the answer; `at` is how many characters came before. With `id`, for the one who invoked by that id."""

    delta: str
    stream_id: str | None = None
    at: int | None = None
    id: str | None = None


class MessageStatus(Message, frozen=True, tag="messageStatus"):
    """`queued` with why, then `running`."""

    stream_id: str
    status: Literal["queued", "running"]
    message: str = ""
    id: str | None = None


class ToolCalled(Message, frozen=True, tag="toolCall"):
    """A tool call began, or, when it is `done`, ended."""

    stream_id: str
    call: ToolCall


class MessageOutput(Message, frozen=True, tag="messageOutput"):
    stream_id: str
    output: Output


class MessageDone(Message, frozen=True, tag="messageDone"):
    """The turn has ended. `length` is that of the whole answer, so that a reader sees whether it has it all."""

    stream_id: str
    error: str | None = None
    code: str | None = None
    length: int | None = None


class InvokeComplete(Message, frozen=True, tag="invokeComplete", omit_defaults=False):
    """The one reply to an `invoke`: `{text, state, toolCalls}`, or `{sessionId, streamId}` if it does not wait."""

    id: str | None
    result: Json = None
    error: str | None = None
    code: str | None = None


class AgentStatus(Message, frozen=True, tag="agentStatus", omit_defaults=False):
    """Who answers in this session; null when nobody does."""

    agent: str | None


# ---- host → kernel


class HistoryItem(Data, frozen=True, omit_defaults=False):
    """What was said before, for an agent."""

    role: Literal["user", "assistant"]
    content: str
    source: Literal["user", "applet", "agent", "assistant"]
    applet_slug: str | None = None


class InteractionItem(Data, frozen=True, omit_defaults=False):
    """What an applet told with `sendInteraction` since the turn before."""

    window_id: str
    content: str
    timestamp: str


class Turn(Message, frozen=True, tag="turn"):
    """Answer this. `windowId` and `windowSession` are of the applet that asks, if one does."""

    stream_id: str
    session_id: str
    prompt: str
    source: Source
    timestamp: str
    applet_slug: str | None = None
    window_id: str | None = None
    window_session: str | None = None
    history: list[HistoryItem] = []
    interactions: list[InteractionItem] = []
    image_data: str | None = None
    correlation_id: str | None = None
    hidden: bool = False
    depth: int = 0


class TurnCancel(Message, frozen=True, tag="turnCancel"):
    stream_id: str


# ---- kernel → host


class RunningTurn(Data, frozen=True):
    """A turn that this kernel is at: told again after a cut, perhaps to another host."""

    turn: Turn
    text: str
    taken: bool = True


class AgentReady(Message, frozen=True, tag="agentReady"):
    """This kernel answers for its session, from now on or still. All turns that it is at are in `running`."""

    agent: str
    wake_on_interaction: bool = False
    running: list[RunningTurn] = []


class AgentGone(Message, frozen=True, tag="agentGone"):
    pass


class TurnTaken(Message, frozen=True, tag="turnTaken"):
    """The agent has begun with it."""

    stream_id: str


class TurnWaits(Message, frozen=True, tag="turnWaits"):
    """It has not, and why."""

    stream_id: str
    message: str


class TurnDelta(Message, frozen=True, tag="turnDelta"):
    stream_id: str
    delta: str
    at: int


class TurnOutput(Message, frozen=True, tag="turnOutput"):
    """The agent displays something; `data` is base64 where `mime` is no text."""

    stream_id: str
    mime: str
    data: str
    title: str = ""


FromAgent: TypeAlias = AgentReady | AgentGone | TurnTaken | TurnWaits | TurnDelta | TurnOutput
ToAgent: TypeAlias = Turn | TurnCancel
FromChat: TypeAlias = Invoke | InvokeCancel | SendMessage | CancelMessage | OpenChat | CloseChat | ReadOutput
ToChat: TypeAlias = (
    MessageStarted
    | StreamReady
    | StreamConnected
    | StreamDelta
    | MessageStatus
    | ToolCalled
    | MessageOutput
    | MessageDone
    | InvokeComplete
    | AgentStatus
)
