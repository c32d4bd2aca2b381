"""What agents say of the turns they are at: that they have begun, the text, what they display, the tools they use."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import structs

from ..errors import AgentFailed, AgentLost
from ..protocol.base import Json
from ..protocol.link import ErrorReply, Result
from ..protocol.sessions import (
    AgentReady,
    MessageOutput,
    Output,
    RunningTurn,
    ToolCall,
    ToolCalled,
    TurnCancel,
    TurnDelta,
    TurnOutput,
)
from ..protocol.tools import DEFINITIONS
from .agents import Agents
from .audience import Audience
from .effects import Perform
from .keeping import Keeping
from .outbox import Outbox, log
from .requests import Caller
from .sessions import Sessions, Turn
from .turns import Turns, put_output

MAX_SHOWN = 20_000
"""How much of a tool call's arguments or result is kept, as JSON."""
_SHOWING = ("set_applet_content", "load_applet")


class Answers:
    """`content_of(window_id, session)` gives what a window shows, for those who read along."""

    def __init__(
        self,
        outbox: Outbox,
        sessions: Sessions,
        agents: Agents,
        keeping: Keeping,
        audience: Audience,
        turns: Turns,
        clock: Callable[[], str],
        content_of: Callable[[str, str], dict[str, Json] | None],
    ) -> None:
        self._outbox = outbox
        self._sessions = sessions
        self._agents = agents
        self._keeping = keeping
        self._audience = audience
        self._turns = turns
        self._clock = clock
        self._content_of = content_of

    # ---- coming

    def ready(self, peer: str, message: AgentReady) -> None:
        """A kernel answers: from now on, or again, with what it is at."""
        agent = self._agents.add(peer, message)
        at_work = {running.turn.stream_id: running for running in message.running}
        for turn in self._sessions.under_way():
            if turn.kernel != agent.kernel or (turn.agent == peer and turn.lost_at is None):
                continue
            running = at_work.pop(turn.id, None)
            if running is not None:
                self._take_up(turn, peer, running)
            elif turn.taken:
                self._turns.end(turn, AgentLost("The kernel that was answering has begun anew."))
            else:
                self._turns.ask(turn)
        for stream_id, running in at_work.items():
            known = self._sessions.turn(stream_id)
            if known is None:
                self._adopt(peer, agent.kernel, running)
            elif not known.under_way:
                self._outbox.send(peer, TurnCancel(stream_id))  # it ended while the kernel was out of reach

    def _take_up(self, turn: Turn, peer: str, running: RunningTurn) -> None:
        turn.agent, turn.lost_at = peer, None
        self.text(peer, turn.id, running.text, 0)
        if running.taken:
            self.taken(peer, turn.id)

    def _adopt(self, peer: str, kernel: str, running: RunningTurn) -> None:
        """A host before this one had the turn: it goes on."""
        told = running.turn
        session = self._sessions.open(told.session_id)

        def loaded() -> None:
            number = session.number_of(told.stream_id)
            turn = Turn(
                told.stream_id,
                session.begin() if number is None else number,
                session,
                told.prompt,
                told.source,
                told.timestamp,
                slug=told.applet_slug,
                hidden=told.hidden,
                depth=told.depth,
                correlation_id=told.correlation_id,
                kernel=kernel,
            )
            for message in session.past[turn.number]:
                turn.image = turn.image or message.image
                turn.outputs += message.outputs
                turn.calls |= {call.id: call for call in message.tool_calls}
            session.running.append(turn)
            self._sessions.add(turn)
            self._audience.started(turn)
            self._take_up(turn, peer, running)

        self._keeping.load(session, loaded)

    # ---- answering

    def taken(self, peer: str, stream_id: str) -> None:
        turn = self._at(peer, stream_id)
        if turn is not None and not turn.taken:
            turn.taken, turn.status, turn.why = True, "running", ""
            self._audience.status(turn)

    def waits(self, peer: str, stream_id: str, message: str) -> None:
        turn = self._at(peer, stream_id)
        if turn is not None and not turn.taken:
            self._turns.wait(turn, message)

    def delta(self, peer: str, message: TurnDelta) -> None:
        self.text(peer, message.stream_id, message.delta, message.at)

    def text(self, peer: str, stream_id: str, text: str, at: int) -> None:
        turn = self._at(peer, stream_id)
        if turn is None:
            return
        start = turn.length
        fresh = turn.add(text, at)
        if fresh:
            self._audience.text(turn, fresh, start)

    def output(self, peer: str, message: TurnOutput) -> None:
        turn = self._at(peer, message.stream_id)
        if turn is None:
            return
        try:
            data = message.data.encode() if message.mime.startswith("text/") else base64.b64decode(message.data)
        except binascii.Error:
            self._outbox.log_once(f"what an agent displayed as {message.mime} is no base64")
            return

        def kept(outcome: Any) -> None:
            if not isinstance(outcome, Output):
                self._outbox.log_once(f"what an agent displayed is not kept: {outcome.message}")
                return
            turn.outputs.append(outcome)
            self._audience.event(turn, "output", **msgspec.to_builtins(outcome))
            self._audience.show(turn, MessageOutput(turn.id, outcome), plain=False)
            if not turn.under_way:
                turn.session.past[turn.number] = [turn.asked(), turn.answered()]

        work = put_output(turn.session.id, turn.id, message.mime, data, message.title)
        self._outbox.add(Perform(work, kept))

    def ended(self, peer: str, stream_id: str, text: str, error: str | None, code: str | None) -> None:
        """The agent says that it is through."""
        self.text(peer, stream_id, text, 0)
        turn = self._at(peer, stream_id)
        if turn is not None:
            for call in [call for call in turn.calls.values() if not call.done]:
                self._note_call(turn, structs.replace(call, error="It was not answered before the end.", done=True))
            self._turns.end(turn, AgentFailed(error) if error is not None else None, code)

    # ---- tools

    def acting(self, stream_id: str, caller: Caller, name: str, arguments: Json) -> Turn | None:
        """The turn whose agent calls a tool. One for agents is shown, and its reply is looked out for."""
        turn = self._at(caller.peer, stream_id)
        definition = DEFINITIONS.get(name)
        if turn is None or definition is None or not definition.for_agents:
            return turn
        call = ToolCall(f"{caller.call}-{len(turn.calls) + 1}", name, _short(arguments))
        session = self._outbox.peers[caller.peer].session
        self._note_call(turn, call)
        turn.open_calls[call.id] = caller

        def replied(reply: Result | ErrorReply) -> None:
            turn.open_calls.pop(call.id, None)
            if turn.under_way:
                self._call_ended(turn, call, reply, session)

        self._outbox.look_out(caller, replied)
        return turn

    def _call_ended(self, turn: Turn, call: ToolCall, reply: Result | ErrorReply, session: str) -> None:
        if isinstance(reply, ErrorReply):
            self._note_call(turn, structs.replace(call, error=reply.message, done=True))
            return
        applet = None
        if call.name in _SHOWING and isinstance(reply.value, dict):
            applet = self._content_of(str(reply.value.get("windowId")), session)
        self._note_call(turn, structs.replace(call, result=_short(reply.value), done=True), applet)
        if applet is not None:
            self._audience.event(turn, "applet.update", **applet)

    def _note_call(self, turn: Turn, call: ToolCall, applet: dict[str, Json] | None = None) -> None:
        turn.calls[call.id] = call
        data: dict[str, Json] = {"toolCallId": call.id, "toolName": call.name}
        if not call.done:
            self._audience.event(turn, "tool.execution_start", **data, arguments=call.arguments)
        else:
            data["success"] = call.error is None
            data |= {"result": call.result} if call.error is None else {"error": call.error}
            data |= {"_applet": applet} if applet is not None else {}
            self._audience.event(turn, "tool.execution_complete", **data)
        self._keeping.called(turn, call, self._clock())
        self._audience.show(turn, ToolCalled(turn.id, call), plain=False)

    def _at(self, peer: str, stream_id: str) -> Turn | None:
        """The turn that this agent is at."""
        turn = self._sessions.turn(stream_id)
        return turn if turn is not None and turn.agent == peer and turn.under_way else None


def _short(value: Json) -> Json:
    """As much of a value as is kept."""
    try:
        text = msgspec.json.encode(value)
    except Exception:
        log.debug("a value of a tool call is not kept", exc_info=True)
        return None
    return value if len(text) <= MAX_SHOWN else {"cut": text[:MAX_SHOWN].decode("utf-8", "ignore"), "bytes": len(text)}
