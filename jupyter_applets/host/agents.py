"""Which kernels answer as agents, and for which sessions."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import NoAgent
from ..protocol.sessions import AgentReady, AgentStatus
from .outbox import Outbox
from .sessions import Session


@dataclass(frozen=True)
class Agent:
    """A kernel that answers. `kernel` is its own id, the same after a cut."""

    peer: str
    session: str
    kernel: str
    name: str
    wakes: bool
    """It wants to hear of interactions as they come."""


class Agents:
    """The agents, the one that registered last at the end."""

    def __init__(self, outbox: Outbox, chats: set[str]) -> None:
        self._outbox = outbox
        self._chats = chats
        self._by_peer: dict[str, Agent] = {}

    def add(self, peer: str, ready: AgentReady) -> Agent:
        known = self._outbox.peers[peer]
        agent = Agent(peer, known.session, known.id, ready.agent, ready.wake_on_interaction)
        if self._by_peer.pop(peer, None) != agent:
            self._by_peer[peer] = agent
            self._tell(known.session)
        self._by_peer[peer] = agent
        return agent

    def remove(self, peer: str) -> None:
        gone = self._by_peer.pop(peer, None)
        if gone is not None:
            self._tell(gone.session)

    def at(self, peer: str) -> Agent | None:
        return self._by_peer.get(peer)

    def of(self, session: Session | None) -> Agent | None:
        """Who answers: a kernel of the session itself, or of the one that it was made from; in one that was made by a
        call from outside, whoever registered last."""
        if session is None:
            return None
        own = [agent for agent in self._by_peer.values() if agent.session in (session.id, session.parent)]
        everybody = list(self._by_peer.values()) if session.made else []
        return next(reversed(own or everybody), None)

    def require(self, session: Session) -> Agent:
        agent = self.of(session)
        if agent is None:
            others = sorted({other.session for other in self._by_peer.values()})
            elsewhere = f" Agents answer in: {', '.join(others)}." if others else ""
            raise NoAgent(
                f"No agent answers in session {session.id!r}: decorate a function with @agent in its notebook, or run "
                f"agent.echo() to try things out.{elsewhere}",
                others,
            )
        return agent

    def _tell(self, session_id: str) -> None:
        """Chats of the session show who answers."""
        agent = self.of(Session(session_id))
        for peer in self._chats:
            if self._outbox.peers[peer].session == session_id:
                self._outbox.send(peer, AgentStatus(agent.name if agent is not None else None))
