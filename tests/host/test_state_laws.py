"""One law: however changes, deliveries, cuts and reconnects mix, in the end everyone holds what the host holds."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from jupyter_applets.errors import LinkLost
from jupyter_applets.kernel.mirror import State
from jupyter_applets.link.base import PendingCall
from jupyter_applets.protocol.base import PROTOCOL
from jupyter_applets.protocol.channel import SetState, StateSeen, StateUpdate
from jupyter_applets.protocol.link import Call, Hello, Result, StateChanged, ViewState, WindowContent

from .conversation import Conversation

KEYS = st.sampled_from("ab")


class Wire:
    """One connection: what is on its way, in both directions, in order."""

    def __init__(self, talk: Conversation, peer: str, role: Any) -> None:
        self.talk = talk
        self.peer = peer
        self.out: deque[Any] = deque()
        self._read = 0
        talk._do(talk.host.connect(peer, role, "nb", talk.now))

    def carry(self) -> bool:
        """One message from here arrives at the host."""
        if self.out:
            self.talk.receive(self.peer, self.out.popleft())
            return True
        return False

    def take(self) -> Any:
        """One message of the host's arrives here, if there is one."""
        sent = self.talk.sent.get(self.peer, [])
        if self._read == len(sent):
            return None
        self._read += 1
        return sent[self._read - 1]

    def cut(self) -> None:
        self.talk.disconnect(self.peer)


class Page:
    """A page with one view, whose state is kept as js/src/state.ts does."""

    def __init__(self, talk: Conversation, view: str) -> None:
        self.talk = talk
        self.view = view
        self.data: dict[str, Any] = {}
        self.connections = 0
        self.wire: Wire | None = None
        self.changes = 0
        self.unheard: dict[str, int] = {}
        """By key, the change that the host has not acknowledged; 0 when that was under way at a cut."""
        self.unseen: int | None = None

    def connect(self) -> None:
        self.connections += 1
        self.wire = Wire(self.talk, f"{self.view}-{self.connections}", "page")
        state = ViewState(self.view, "sheet", 1, 1, True, self.connections > 1, state=self.data or None)
        self.wire.out.append(Hello(PROTOCOL, "0.1.0", "page", "nb", self.view, [state]))
        if lost := self.lost:
            self.wire.out.append(SetState({key: self.data[key] for key in lost}, "sheet", self.view, 1))

    @property
    def lost(self) -> list[str]:
        return [key for key, change in self.unheard.items() if change == 0]

    def cut(self) -> None:
        assert self.wire is not None
        self.wire.cut()
        self.wire, self.unseen = None, None
        self.unheard = dict.fromkeys(self.unheard, 0)

    def set(self, data: dict[str, Any]) -> None:
        self.data = {**self.data, **data}
        self.tell(list(data))

    def tell(self, keys: list[str]) -> None:
        self.changes += 1
        self.unheard |= dict.fromkeys(keys, 0 if self.wire is None else self.changes)
        if self.wire is not None:
            data = {key: self.data[key] for key in keys}
            self.wire.out.append(SetState(data, "sheet", self.view, 1, str(self.changes)))

    def receive(self) -> bool:
        message = self.wire.take() if self.wire is not None else None
        match message:
            case StateUpdate(data=data, rev=rev):
                self.data, self.unseen = {**self.data, **data}, rev
            case Result(id=change):
                self.unheard = {key: last for key, last in self.unheard.items() if str(last) != change}
            case WindowContent(state=state, rev=rev):
                news = {key: value for key, value in state.items() if key not in self.unheard}
                self.data, self.unseen = {**self.data, **news}, rev
                if lost := self.lost:
                    self.tell(lost)
        return message is not None

    def see(self) -> bool:
        """The applet takes the update that it was posted."""
        if self.unseen is None or self.wire is None:
            return False
        self.wire.out.append(StateSeen("sheet", self.view, self.unseen))
        self.unseen = None
        return True


class Kernel:
    """A kernel whose widget owns the window, with the mirror that is used for real."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.connections = 0
        self.calls = 0
        self.pending: dict[str, PendingCall] = {}
        self.unsent: list[Call] = []
        self.wire: Wire | None = None
        self.state = State(self.send, lambda news: None, self.failed)

    def send(self, data: dict[str, Any]) -> PendingCall:
        # As on the wire: encoded once, and decoded at the host.
        plain = msgspec.json.decode(msgspec.json.encode(data))
        return self.call("push_state", {"windowId": "sheet", "data": plain})

    def failed(self, error: Exception) -> None:
        raise AssertionError(error)

    def call(self, name: str, arguments: dict[str, Any]) -> PendingCall:
        self.calls += 1
        pending = PendingCall(f"c{self.calls}")
        self.pending[pending.call] = pending
        call = Call(pending.call, name, arguments)
        if self.wire is None:
            self.unsent.append(call)
        else:
            self.wire.out.append(call)
        return pending

    def connect(self) -> None:
        self.connections += 1
        self.wire = Wire(self.talk, f"kernel-{self.connections}", "kernel")
        self.wire.out.append(Hello(PROTOCOL, "0.1.0", "kernel", "nb", "k"))
        self.wire.out.extend(self.unsent)
        self.unsent.clear()
        content = {"windowId": "sheet", "revision": 1, "content": {"html": "<p>"}, "state": dict(self.state)}
        self.call("open_window", content).add_done_callback(self.opened)
        self.state.flush()

    def opened(self, done: Any) -> None:
        if done.exception() is None:
            self.state.replace(done.result()["state"])

    def cut(self) -> None:
        assert self.wire is not None
        self.wire.cut()
        self.wire = None
        for call in list(self.pending):
            if call not in {unsent.id for unsent in self.unsent}:
                self.pending.pop(call).set_exception(LinkLost("cut"))

    def receive(self) -> bool:
        message = self.wire.take() if self.wire is not None else None
        match message:
            case Result(id=call, value=value):
                # What a host says is bytes in between: nobody shares a value with it.
                self.pending.pop(call).set_result(msgspec.json.decode(msgspec.json.encode(value)))
            case StateChanged(data=data):
                self.state.take(data)
        return message is not None


class AnyChanges(RuleBasedStateMachine):
    """Two pages, a kernel that pushes, and an agent in another kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.talk = Conversation()
        self.kernel = Kernel(self.talk)
        self.pages = [Page(self.talk, "v1"), Page(self.talk, "v2")]
        self.agent = self.talk.kernel("agent")
        self.numbers = 0
        self.kernel.connect()
        while self.kernel.wire is not None and self.kernel.wire.carry():
            pass
        for page in self.pages:
            page.connect()

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    @rule(key=KEYS)
    def kernel_pushes(self, key: str) -> None:
        self.kernel.state.push({key: self.number()})

    @rule()
    def kernel_flushes(self) -> None:
        """As before any other call of the kernel."""
        self.kernel.state.flush()

    @rule(key=KEYS)
    def agent_sets(self, key: str) -> None:
        self.talk.call("set_applet_state", {"windowId": "sheet", "data": {key: self.number()}}, kernel="agent")

    @rule(page=st.sampled_from([0, 1]), key=KEYS)
    def view_sets(self, page: int, key: str) -> None:
        self.pages[page].set({key: self.number()})

    @rule(side=st.sampled_from([0, 1, 2]))
    def message_arrives_at_the_host(self, side: int) -> None:
        wire = self.sides[side].wire
        if wire is not None:
            wire.carry()

    @rule(side=st.sampled_from([0, 1, 2]))
    def message_of_the_host_arrives(self, side: int) -> None:
        self.sides[side].receive()

    @rule(page=st.sampled_from([0, 1]))
    def applet_sees(self, page: int) -> None:
        self.pages[page].see()

    @rule(side=st.sampled_from([0, 1, 2]))
    def connection_is_cut(self, side: int) -> None:
        if self.sides[side].wire is not None:
            self.sides[side].cut()

    @precondition(lambda self: any(side.wire is None for side in self.sides))
    @rule()
    def everyone_connects_again(self) -> None:
        for side in self.sides:
            if side.wire is None:
                side.connect()

    @property
    def sides(self) -> list[Any]:
        return [*self.pages, self.kernel]

    def teardown(self) -> None:
        """Everything is delivered, and all hold the same."""
        self.everyone_connects_again()
        moving = True
        while moving:
            moved = [side.wire.carry() or side.receive() for side in self.sides]
            moving = any([*moved, *(page.see() for page in self.pages)])
        held = next(iter(self.talk.host.windows)).state.values
        agent: dict[str, Any] = {}
        for change in self.talk.messages(StateChanged, "agent"):
            agent |= change.data
        assert [page.data for page in self.pages] == [held, held]
        assert dict(self.kernel.state) == agent == held


TestAnyChanges = AnyChanges.TestCase
TestAnyChanges.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
