"""Laws that hold in any conversation: one reply to every call, no command twice in one document, order kept."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from jupyter_applets.protocol.app import AppProtocolRequest, CommandAsk
from jupyter_applets.protocol.link import Cancel, ViewClosed, ViewState

from .conversation import SHEET, Conversation

VIEWS = ["v1", "v2"]


class AnyConversation(RuleBasedStateMachine):
    """Two pages, two views each at most, a kernel that asks: in any order, with cuts, reloads and time passing."""

    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.talk = Conversation()
        self.talk.kernel()
        self.talk.open_window()
        self.made: list[str] = []
        self.numbers = 0
        self.connections = 0
        self.page: str | None = None
        self.documents: dict[str, int] = {}
        self.live: dict[str, bool] = {}
        self.ran: dict[tuple[str, int], list[int]] = {}
        self.failed: dict[tuple[str, int], list[int]] = {}
        self.unanswered: list[tuple[str, AppProtocolRequest]] = []
        self.seen = 0

    # ---- the kernel

    @rule(target=calls)
    def command(self) -> str:
        self.numbers += 1
        call = self.talk.command("setCells", {"cells": {"n": str(self.numbers)}})
        self.made.append(call)
        return call

    @rule(target=calls)
    def query(self) -> str:
        call = self.talk.query("cells")
        self.made.append(call)
        return call

    @rule(call=calls)
    def cancel(self, call: str) -> None:
        self.talk.receive("kernel", Cancel(call))

    # ---- the page

    @precondition(lambda self: self.page is None)
    @rule()
    def connect(self) -> None:
        """A page comes, for the first time or after a cut, with the documents it has."""
        self.connections += 1
        self.page = f"page{self.connections}"
        self.seen = 0
        self.talk.page(
            self.page,
            views=[
                ViewState(view, "sheet", 1, self.documents[view], ready, True, SHEET)
                for view, ready in self.live.items()
            ],
        )

    @precondition(lambda self: self.page is not None)
    @rule()
    def cut(self) -> None:
        assert self.page is not None
        self.talk.disconnect(self.page)
        self.page = None

    @precondition(lambda self: self.page is not None)
    @rule(view=st.sampled_from(VIEWS))
    def load(self, view: str) -> None:
        """A view is shown, or its document reloads."""
        assert self.page is not None
        self.take()
        self.documents[view] = self.documents.get(view, 0) + 1
        self.live[view] = True
        self.unanswered = [(v, r) for v, r in self.unanswered if v != view]
        self.talk.show(view, page=self.page, document=self.documents[view], ready=False)
        self.talk.ready(view, page=self.page, document=self.documents[view])

    @precondition(lambda self: self.page is not None and self.live)
    @rule(view=st.sampled_from(VIEWS))
    def close(self, view: str) -> None:
        assert self.page is not None
        self.take()
        if self.live.pop(view, False):
            self.unanswered = [(v, r) for v, r in self.unanswered if v != view]
            self.talk.receive(self.page, ViewClosed(view))

    @precondition(lambda self: self.page is not None)
    @rule(fails=st.booleans())
    def answer(self, fails: bool) -> None:
        """The oldest request that a page has is run and answered."""
        assert self.page is not None
        self.take()
        if self.unanswered:
            view, request = self.unanswered.pop(0)
            self.talk.answer(request, None, "failed" if fails else None, page=self.page)
            if isinstance(request.request, CommandAsk):
                number = int(request.request.params["cells"]["n"])
                came = self.failed if fails else self.ran
                came.setdefault((view, self.documents[view]), []).append(number)

    @rule(seconds=st.sampled_from([0.1, 2.0, 6.0, 40.0]))
    def wait(self, seconds: float) -> None:
        self.talk.wait(seconds)

    def take(self) -> None:
        """What the host has sent to this page since."""
        assert self.page is not None
        asked = self.talk.asked(self.page)
        self.unanswered += [(r.view_id or "", r) for r in asked[self.seen :] if r.view_id in self.live]
        self.seen = len(asked)

    # ---- the laws

    @invariant()
    def no_call_is_answered_twice(self) -> None:
        assert all(len(self.talk.replies(call)) <= 1 for call in self.made)

    @invariant()
    def no_command_runs_twice_in_one_document(self) -> None:
        for numbers in self.ran.values():
            assert len(set(numbers)) == len(numbers), numbers

    @invariant()
    def document_that_is_let_in_has_every_recorded_command(self) -> None:
        if self.page is None:
            return
        self.take()
        window = next(iter(self.talk.host.windows))
        recorded = {int(entry.params["cells"]["n"]) for entry in window.log.entries}
        for view in window.views.values():
            if view.open and not any(v == view.id for v, _ in self.unanswered):
                came = {*self.ran.get(view.copy, []), *self.failed.get(view.copy, [])}
                assert recorded <= came, (view.copy, recorded, came)

    def teardown(self) -> None:
        """In the end every call has its one reply."""
        self.talk.wait(120)
        assert all(len(self.talk.replies(call)) == 1 for call in self.made)


TestAnyConversation = AnyConversation.TestCase
TestAnyConversation.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
