"""Who speaks to agents: applets that invoke them, people in chats, interactions that wake them; and its limits."""

from __future__ import annotations

import uuid
from collections import deque
from typing import TYPE_CHECKING, Any

from ..errors import (
    AppletError,
    Cancelled,
    InvalidArguments,
    SessionNotFound,
    StreamNotFound,
    TooDeep,
    TooManyCalls,
    ViewGone,
)
from ..protocol.base import Json
from ..protocol.link import Interaction, Result
from ..protocol.markers import clean
from ..protocol.sessions import (
    AgentGone,
    AgentReady,
    CancelMessage,
    ChatPage,
    CloseChat,
    InteractionItem,
    Invoke,
    InvokeCancel,
    InvokeComplete,
    OpenChat,
    ReadOutput,
    SendMessage,
    TurnDelta,
    TurnOutput,
    TurnTaken,
    TurnWaits,
)
from .requests import Caller
from .sessions import Session, Turn
from .windows import Window

if TYPE_CHECKING:
    from .host import Host, OnMessage

MAX_DEPTH = 4
"""How often an applet may call the agent because the agent called it, and so on."""
PER_MINUTE = 30
AT_ONCE = 8
"""How often one window may call the agent."""
PAGE_CHARACTERS = 4_000_000
MAX_PAGE = 1_000


def new_session(host: Host, parent: str | None) -> Session:
    """A fresh session, made by a call."""
    session = host.sessions.open(f"s-{uuid.uuid4().hex[:16]}", parent=parent, made=True)
    session.loaded = True
    host.perform(lambda services: services.sessions.create(session.id, parent=parent, ephemeral=True), lambda _: None)
    return session


def find_session(host: Host, session_id: str) -> Session | None:
    """A session that is in memory, or whose kernel or page is there."""
    known = host.sessions.get(session_id)
    if known is not None or any(peer.session == session_id for peer in host.outbox.peers.values()):
        return host.sessions.open(session_id)
    return None


def with_session(host: Host, session_id: str, then: Any) -> None:
    """`then(session)` for one that exists, in memory or on the disk; `then(error)` for another."""
    found = find_session(host, session_id)
    if found is not None:
        then(found)
        return

    def looked(outcome: Any) -> None:
        if outcome is True:
            then(host.sessions.open(session_id))
        elif isinstance(outcome, AppletError):
            then(outcome)
        else:
            then(SessionNotFound(f"There is no session {session_id!r}.", sorted(s.id for s in host.sessions)))

    host.perform(lambda services: services.sessions.exists(session_id), looked, ordered=False)


# ---- limits


class Limits:
    """How often windows have called the agent."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], deque[float]] = {}

    def count(self, window: Window, now: float) -> None:
        """Raise where it is too often."""
        times = self._calls.setdefault((window.session, window.id), deque())
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= PER_MINUTE:
            raise TooManyCalls(
                f"{window.title or window.id} has called the agent {PER_MINUTE} times within a minute: try again later."
            )
        times.append(now)

    def forget(self, window: Window) -> None:
        self._calls.pop((window.session, window.id), None)


# ---- applets


def _invoke(host: Host, peer: str, message: Invoke) -> None:
    try:
        _begin_invoke(host, peer, message)
    except AppletError as e:
        _refuse(host, peer, message.id, e)


def _refuse(host: Host, peer: str, call: str | None, error: AppletError) -> None:
    host.outbox.send(peer, InvokeComplete(call, error=error.message, code=error.code))


def _begin_invoke(host: Host, peer: str, message: Invoke) -> None:
    home = host.outbox.peers[peer].session
    options = message.options
    if message.id is not None and any(t.waiting == (peer, message.id) for t in host.sessions.under_way()):
        raise InvalidArguments(f"The id {message.id!r} is in use: a call with it is under way.")
    window = host.meant(peer, message.window_id) if message.window_id is not None else host.desks.meant(home)
    depth, parent = 0, None
    if message.window_id is not None and window is not None:
        check_applet(host, window, message.revision, consent=message.consent)
        depth, parent = applet_turn(host, window, by_person=message.by_person)
    slug = message.applet_slug if message.window_id is None and message.applet_slug else slug_of(window)
    where = "background" if message.background or options.background else options.session
    waiting = Caller(peer, message.id or "") if options.wait_for_result else None

    def began(turn: Turn | AppletError) -> None:
        if isinstance(turn, AppletError):
            _refuse(host, peer, message.id, turn)
        elif not options.wait_for_result:
            told = {"sessionId": turn.session.id, "streamId": turn.id}
            host.outbox.send(peer, InvokeComplete(message.id, told))

    def found(session: Session | AppletError) -> None:
        if isinstance(session, AppletError):
            _refuse(host, peer, message.id, session)
            return
        try:
            host.turns.start(
                session,
                message.prompt,
                "applet",
                began,
                image_data=message.image_data,
                timeout=options.timeout,
                slug=slug,
                window=window,
                hidden=where == "background" or not options.show_in_chat,
                depth=depth,
                nested=parent is not None and parent.session is session,
                waiting=waiting,
                expects=tuple(options.expect_state),
            )
        except AppletError as e:
            _refuse(host, peer, message.id, e)

    if where in ("active", "background", home):
        found(host.sessions.open(home))
    elif where == "new":
        found(new_session(host, home))
    else:
        with_session(host, where, found)


def check_applet(host: Host, window: Window, revision: int | None, *, consent: bool) -> None:
    """Raise unless this applet may speak with the agent."""
    if revision is not None and revision < window.revision:
        raise ViewGone(f"The content of window {window.id!r} was replaced.")
    if not consent:
        host.decisions.check_agent(window)


def applet_turn(host: Host, window: Window, *, by_person: bool) -> tuple[int, Turn | None]:
    """The depth of what an applet asks now, and the turn that it asks in the middle of. Raise where it is too much."""
    parent = host.acting.commanding(window)
    depth = parent.depth + 1 if parent is not None else 0 if by_person else host.acting.depth(window)
    if depth > MAX_DEPTH:
        raise TooDeep(
            f"Agents and applets have called each other {depth} times in a row, the last time from "
            f"{window.title or window.id!r}: the call was stopped."
        )
    host.limits.count(window, host.outbox.now)
    if sum(turn.window is window for turn in host.sessions.under_way()) >= AT_ONCE:
        raise TooManyCalls(f"{AT_ONCE} calls of this applet wait for an answer already.")
    return depth, parent


def slug_of(window: Window | None) -> str:
    """What an applet is called in a chat: its slug, or, where it is not saved, its window."""
    return clean((window.slug or window.id) if window is not None else "")


def _invoke_cancel(host: Host, peer: str, message: InvokeCancel) -> None:
    for turn in host.sessions.under_way():
        if turn.waiting == (peer, message.id):
            host.turns.cancel(turn, Cancelled("The call was cancelled."))


def interacted(host: Host, session_id: str, message: Interaction) -> None:
    """An applet tells what a person did: the agent hears of it now, if it wants to, or with its next turn."""
    session = host.sessions.open(session_id)
    agent = host.agents.of(session)
    window = host.windows.get(session_id, message.window_id)
    if agent is not None and agent.wakes and window is not None and "agent" not in window.refused:
        try:
            depth = host.acting.depth(window)
            if depth <= MAX_DEPTH:
                host.limits.count(window, host.outbox.now)
                slug = slug_of(window)
                host.turns.start(
                    session, message.content, "applet", lambda turn: None, slug=slug, window=window, depth=depth
                )
                return
        except AppletError as e:
            host.note(window, "warn", f"An interaction did not wake the agent. {e.message}")
    session.interactions.append(InteractionItem(message.window_id, message.content, host.clock()))


# ---- people


def _send_message(host: Host, peer: str, message: SendMessage) -> None:
    session = host.sessions.open(host.outbox.peers[peer].session)
    host.sessions.active = session.id
    if message.applet_state:
        window = host.desks.meant(session.id)
        if window is not None:
            host.updates.merge(window, message.applet_state, peer)

    def began(turn: Turn | AppletError) -> None:
        if message.id is not None:
            host.reply(Caller(peer, message.id), turn if isinstance(turn, AppletError) else told(turn))
        elif isinstance(turn, AppletError):
            host.outbox.send_error(peer, turn)

    host.turns.start(
        session,
        message.prompt,
        "user",
        began,
        image_data=message.image_data,
        correlation_id=message.correlation_id,
    )


def told(turn: Turn) -> dict[str, Json]:
    return {"sessionId": turn.session.id, "streamId": turn.id}


def _cancel_message(host: Host, peer: str, message: CancelMessage) -> None:
    turn = host.sessions.turn(message.stream_id)
    if turn is None:
        raise StreamNotFound(f"There is no turn {message.stream_id!r} under way.")
    host.turns.cancel(turn, Cancelled("Stopped."))
    if message.id is not None:
        host.outbox.send(peer, Result(message.id))


# ---- chats


def _open_chat(host: Host, peer: str, message: OpenChat) -> None:
    session = host.sessions.open(host.outbox.peers[peer].session)
    host.chats.add(peer)
    if message.before is None:
        host.sessions.active = session.id

    def loaded() -> None:
        page = chat_page(host, session, message.before, min(max(1, message.limit), MAX_PAGE))
        host.outbox.send(peer, Result(message.id, page))

    host.keeping.load(session, loaded)


def chat_page(host: Host, session: Session, before: int | None, limit: int) -> ChatPage:
    found = session.messages(before, limit)
    characters = 0
    for at in range(len(found) - 1, -1, -1):
        characters += len(found[at].content)
        if characters > PAGE_CHARACTERS and at < len(found) - 1 and found[at].role == "assistant":
            found = found[at + 1 :]
            break
    start = found[0].index if found and session.messages(found[0].index, 1) else 0
    agent = host.agents.of(session)
    return ChatPage(session.id, found, start, agent.name if agent is not None else None)


def _close_chat(host: Host, peer: str, message: CloseChat) -> None:
    host.chats.discard(peer)


def _read_output(host: Host, peer: str, message: ReadOutput) -> None:
    session = host.outbox.peers[peer].session

    def work(services: Any) -> Json:
        return services.sessions.output_as_json(session, message.name)

    host.answer(Caller(peer, message.id), work, ordered=False)


# ---- agents


def _agent_ready(host: Host, peer: str, message: AgentReady) -> None:
    host.answers.ready(peer, message)


def _agent_gone(host: Host, peer: str, message: AgentGone) -> None:
    host.agents.remove(peer)


def _turn_taken(host: Host, peer: str, message: TurnTaken) -> None:
    host.answers.taken(peer, message.stream_id)


def _turn_waits(host: Host, peer: str, message: TurnWaits) -> None:
    host.answers.waits(peer, message.stream_id, message.message)


def _turn_delta(host: Host, peer: str, message: TurnDelta) -> None:
    host.answers.delta(peer, message)


def _turn_output(host: Host, peer: str, message: TurnOutput) -> None:
    host.answers.output(peer, message)


MESSAGES: dict[type, OnMessage] = {
    Invoke: _invoke,
    InvokeCancel: _invoke_cancel,
    SendMessage: _send_message,
    CancelMessage: _cancel_message,
    OpenChat: _open_chat,
    CloseChat: _close_chat,
    ReadOutput: _read_output,
    AgentReady: _agent_ready,
    AgentGone: _agent_gone,
    TurnTaken: _turn_taken,
    TurnWaits: _turn_waits,
    TurnDelta: _turn_delta,
    TurnOutput: _turn_output,
}
