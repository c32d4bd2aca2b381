"""A whole conversation with a host, without a socket, a loop or a clock of its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, TypeVar

from jupyter_applets.errors import AppletError
from jupyter_applets.host.effects import Perform, Send, Stream, Tell, Unwatch, WakeAt, Watch
from jupyter_applets.protocol.app import (
    AppManifest,
    AppProtocolReady,
    AppProtocolRequest,
    AppProtocolResponse,
    CommandAnswer,
    CommandAsk,
    CommandDescriptor,
    HydrateAnswer,
    HydrateAsk,
    QueryAnswer,
    QueryAsk,
    StateDescriptor,
)
from jupyter_applets.protocol.base import PROTOCOL
from jupyter_applets.protocol.link import Call, Content, ErrorReply, Hello, Result, ViewOpened, ViewState
from jupyter_applets.protocol.sessions import AgentReady, Turn, TurnDelta, TurnTaken
from jupyter_applets.tools import make_host
from jupyter_applets.tools.services import Services

SET_CELLS = {
    "type": "object",
    "properties": {"cells": {"type": "object", "additionalProperties": {"type": "string"}}},
    "required": ["cells"],
}

SHEET = AppManifest(
    "sheet",
    "Sheet",
    {"cells": StateDescriptor("All cell values")},
    {
        "setCells": CommandDescriptor("Set cells", SET_CELLS),
        "sort": CommandDescriptor("Sort the sheet", replay="last"),
        "mail": CommandDescriptor("Send it by mail", replay="never"),
    },
)


M = TypeVar("M")


class NoDisk:
    """For conversations that keep nothing."""

    class decisions:  # noqa: N801
        @staticmethod
        def change(changes: Any) -> None:
            pass

    class sessions:  # noqa: N801
        """Nothing was said before, and nothing is kept."""

        def __getattr__(self, name: str) -> Any:
            return lambda *args, **kwargs: [] if name in ("history", "all") else None

    sessions = sessions()  # type: ignore[assignment, misc]


class Conversation:
    """A host, what it has sent to each peer, and a clock that moves when told.

    What it asks to have done is done at once, with files below `root` if there is one.
    """

    def __init__(self, root: Path | None = None, **options: Any) -> None:
        self.host = make_host("0.1.0", **options)
        self.services: Any = NoDisk() if root is None else Services(root)
        self.watched: list[str] = []
        self.now = 1000.0
        self.sent: dict[str, list[Any]] = {}
        self.alarm: float | None = None
        self._calls = itertools.count(1)

    # ---- peers

    def kernel(self, name: str = "kernel", session: str = "nb") -> str:
        self._do(self.host.connect(name, "kernel", session, self.now))
        self.hello(name, "kernel", session)
        return name

    def hello(self, peer: str, role: Any, session: str = "nb", id: str | None = None) -> None:
        self.receive(peer, Hello(PROTOCOL, "0.1.0", role, session, id or peer))

    def page(self, name: str = "page", session: str = "nb", views: list[ViewState] | None = None) -> str:
        self._do(self.host.connect(name, "page", session, self.now))
        self.receive(name, Hello(PROTOCOL, "0.1.0", "page", session, name, views or []))
        return name

    def disconnect(self, peer: str) -> None:
        self._do(self.host.disconnect(peer, self.now))

    def receive(self, peer: str, message: Any) -> None:
        self._do(self.host.receive(peer, message, self.now))

    def wait(self, seconds: float) -> None:
        """Let time pass, waking the host whenever it asked for it."""
        end = self.now + seconds
        while self.alarm is not None and self.alarm <= end:
            self.now, self.alarm = max(self.now, self.alarm), None
            self._do(self.host.wake(self.now))
        self.now = end

    # ---- a kernel's side

    def call(
        self, name: str, arguments: dict[str, Any], *, kernel: str = "kernel", timeout: float | None = None
    ) -> str:
        call = f"c{next(self._calls)}"
        self.receive(kernel, Call(call, name, arguments, None if timeout is None else timeout * 1000))
        return call

    def query(self, key: str, window: str = "sheet", **options: Any) -> str:
        return self.call("app_query", {"windowId": window, "stateKey": key}, **options)

    def command(self, name: str, params: Any = None, window: str = "sheet", **options: Any) -> str:
        return self.call("app_command", {"windowId": window, "command": name, "params": params or {}}, **options)

    def open_window(self, window: str = "sheet", revision: int = 1, **content: Any) -> str:
        raw = {"html": "<p>", **content}
        return self.call("open_window", {"windowId": window, "revision": revision, "content": raw})

    def replies(self, call: str, kernel: str = "kernel") -> list[Result | ErrorReply]:
        return [m for m in self.sent.get(kernel, []) if isinstance(m, Result | ErrorReply) and m.id == call]

    def reply(self, call: str, kernel: str = "kernel") -> Result | ErrorReply:
        """The one reply to a call; it is an error of this test if there are none or several."""
        replies = self.replies(call, kernel)
        assert len(replies) == 1, f"{len(replies)} replies to {call}: {replies}"
        return replies[0]

    def value(self, call: str) -> Any:
        reply = self.reply(call)
        assert isinstance(reply, Result), reply
        return reply.value

    def error(self, call: str, kernel: str = "kernel") -> ErrorReply:
        reply = self.reply(call, kernel)
        assert isinstance(reply, ErrorReply), reply
        return reply

    # ---- an agent's side

    def agent(self, name: str = "analyst", *, kernel: str = "kernel", **options: Any) -> None:
        """That kernel answers from now on."""
        self.receive(kernel, AgentReady(name, **options))

    def turns(self, kernel: str = "kernel") -> list[Turn]:
        return self.messages(Turn, kernel)

    def take(self, turn: Turn, *deltas: str, kernel: str = "kernel") -> None:
        """The agent begins, and says this."""
        self.receive(kernel, TurnTaken(turn.stream_id))
        at = 0
        for delta in deltas:
            self.receive(kernel, TurnDelta(turn.stream_id, delta, at))
            at += len(delta)

    def act(self, turn: Turn, name: str, arguments: dict[str, Any], *, kernel: str = "kernel") -> str:
        """The agent calls a tool in its turn."""
        call = f"c{next(self._calls)}"
        self.receive(kernel, Call(call, name, arguments, turn=turn.stream_id))
        return call

    def end(self, turn: Turn, text: str = "", *, kernel: str = "kernel", **failed: Any) -> None:
        self.call("end_turn", {"streamId": turn.stream_id, "text": text, **failed}, kernel=kernel)

    # ---- a page's side

    def show(self, view: str = "v1", window: str = "sheet", page: str = "page", **state: Any) -> None:
        self.receive(page, ViewOpened(ViewState(view, window, **{"revision": 1, **state})))

    def ready(
        self,
        view: str = "v1",
        window: str = "sheet",
        page: str = "page",
        *,
        document: int = 1,
        manifest: AppManifest | None = SHEET,
        hydrates: bool = False,
    ) -> None:
        self.receive(page, AppProtocolReady(window, view, document, manifest, hydrates))

    def asked(self, page: str = "page") -> list[AppProtocolRequest]:
        return [m for m in self.sent.get(page, []) if isinstance(m, AppProtocolRequest)]

    def answer(
        self, request: AppProtocolRequest, value: Any = None, error: str | None = None, page: str = "page"
    ) -> None:
        match request.request:
            case CommandAsk():
                response: Any = CommandAnswer(value, error)
            case QueryAsk():
                response = QueryAnswer(value, error)
            case HydrateAsk():
                response = HydrateAnswer(error)
            case other:
                raise AssertionError(other)
        self.receive(page, AppProtocolResponse(request.request_id, request.window_id, response))

    def answer_last(self, value: Any = None, error: str | None = None, page: str = "page") -> None:
        self.answer(self.asked(page)[-1], value, error, page)

    def commands_to(self, view: str, page: str = "page") -> list[tuple[str, bool]]:
        """The commands that a view was sent, and whether each was a replay."""
        return [
            (r.request.command, r.request.replayed)
            for r in self.asked(page)
            if r.view_id == view and isinstance(r.request, CommandAsk)
        ]

    def shown_sheet(self) -> Conversation:
        """A kernel and a page that shows the sheet, ready."""
        self.kernel()
        self.page()
        self.open_window()
        self.show()
        self.ready()
        return self

    def run(self, command: str, params: Any = None, *, page: str = "page", result: Any = None) -> Any:
        """A command from ask to result."""
        call = self.command(command, params)
        self.answer_last(result, page=page)
        return self.value(call)

    def messages(self, kind: type[M], peer: str = "page") -> list[M]:
        """All of one kind that a peer was sent."""
        return [m for m in self.sent.get(peer, []) if isinstance(m, kind)]

    def file_changed(self, path: str, event: Any = "modified") -> None:
        self._do(self.host.file_changed(path, event, self.now))

    def _do(self, effects: list[Any]) -> None:
        for effect in effects:
            match effect:
                case Send(peer=peer, message=message):
                    self.sent.setdefault(peer, []).append(message)
                case WakeAt(at=at):
                    self.alarm = at
                case Perform(work=work, done=done):
                    try:
                        outcome = work(self.services)
                    except AppletError as e:
                        outcome = e
                    self._do(self.host.performed(done, outcome, self.now))
                case Stream(peer=peer, work=work, failed=failed):
                    try:
                        for message in work(self.services):
                            self._do([Send(peer, message)])
                    except AppletError as e:
                        self._do([Send(peer, failed(e))])
                case Watch(path=path, tree=tree):
                    self.watched.append(f"{path}{'/**' if tree else ''}")
                    self._do(self.host.watched(effect, None, self.now))
                case Unwatch(path=path):
                    self.watched.remove(path)
                case Tell():
                    pass


__all__ = ["SET_CELLS", "SHEET", "Content", "Conversation"]
