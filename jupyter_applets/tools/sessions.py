"""Tools on sessions: speaking with the agents that answer in them, and reading what was said."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import AppletError, TooDeep
from ..host.host import LATER, Host, Later
from ..host.requests import Caller
from ..host.sessions import Session, Turn
from ..host.speaking import MAX_DEPTH, new_session, told, with_session
from ..protocol.base import Json
from ..protocol.tools import EndTurn, GetMessages, NoArguments, SendMessageTool
from .registry import tool

WAIT = 35.0
"""How long an answer is waited for where the caller does not say."""


@tool
def send_message(host: Host, caller: Caller, given: SendMessageTool, timeout: float | None) -> Later:
    home = host.session_of(caller)
    acting = host.acting.turn
    depth = acting.depth + 1 if acting is not None else 0
    if depth > MAX_DEPTH:
        raise TooDeep(f"Agents have called each other {depth} times in a row: the call was stopped.")
    agent = host.agents.at(caller.peer)

    def began(turn: Turn | AppletError) -> None:
        if isinstance(turn, AppletError):
            host.reply(caller, turn)
        elif not given.wait:
            host.reply(caller, told(turn))

    def found(session: Session | AppletError) -> None:
        if isinstance(session, AppletError):
            host.reply(caller, session)
            return
        try:
            host.turns.start(
                session,
                given.prompt,
                "user" if acting is None else "agent",
                began,
                timeout=(WAIT if timeout is None else timeout) * 1000 if given.wait else None,
                slug=None if acting is None or agent is None else agent.name,
                depth=depth,
                nested=acting is not None and acting.session is session,
                waiting=caller if given.wait else None,
            )
        except AppletError as e:
            host.reply(caller, e)

    if given.session == "new":
        found(new_session(host, home))
    elif given.session in (None, home):
        found(host.sessions.open(home))
    else:
        with_session(host, str(given.session), found)
    return LATER


@tool
def get_messages(host: Host, caller: Caller, given: GetMessages, timeout: float | None) -> Later:
    def found(session: Session | AppletError) -> None:
        if isinstance(session, AppletError):
            host.reply(caller, session)
        else:
            host.keeping.load(session, lambda: host.reply(caller, messages_of(session, given.limit)))

    with_session(host, given.session or host.session_of(caller), found)
    return LATER


def messages_of(session: Session, limit: int | None = None, *, hidden: bool = False) -> list[Json]:
    """As `GET api/history` has them."""
    plain: list[Json] = msgspec.to_builtins(session.messages(limit=limit, hidden=hidden))
    return plain


@tool
def list_sessions(host: Host, caller: Caller, given: NoArguments, timeout: float | None) -> Later:
    def listed(stored: Any) -> Json:
        return sessions_of(host, stored)

    return host.answer(caller, lambda services: services.sessions.all(), listed, ordered=False)


def sessions_of(host: Host, stored: Any) -> list[Json]:
    """All sessions, those on the disk and those that only have a kernel or a page."""
    known = {info.id: info for info in stored}
    open_now = {peer.session for peer in host.outbox.peers.values() if peer.session}
    found = []
    for session_id in sorted({*known, *open_now, *(session.id for session in host.sessions)}):
        session = host.sessions.get(session_id)
        info = known.get(session_id)
        made = Session(session_id, info.parent, info.ephemeral) if info is not None else Session(session_id)
        agent = host.agents.of(session or made)
        found.append(
            {
                "id": session_id,
                "sessionId": session_id,
                "parent": (session or made).parent,
                "created": info.created if info is not None else None,
                "updated": info.updated if info is not None else None,
                "agent": agent.name if agent is not None else None,
                "underWay": len(session.under_way()) if session is not None else 0,
                "active": session_id == host.sessions.active,
                "open": session_id in open_now,
            }
        )
    return found


@tool
def end_turn(host: Host, caller: Caller, given: EndTurn, timeout: float | None) -> None:
    host.answers.ended(caller.peer, given.stream_id, given.text, given.error, given.code)
