"""The life of a call: it waits for the applet, is checked, sent, and gets exactly one reply."""

from __future__ import annotations

from ..errors import (
    AppletError,
    CallTimeout,
    Cancelled,
    HandlerFailed,
    InvalidMessage,
    NotReady,
    NotShown,
    ResultNotJson,
    TooLarge,
    TooManyCalls,
    UnknownCommand,
    UnknownStateKey,
    ViewGone,
    from_wire,
)
from ..protocol.app import (
    CONSOLE_KEY,
    MANIFEST_KEY,
    Answer,
    AppManifest,
    Ask,
    CommandAnswer,
    CommandAsk,
    DomAnswer,
    DomAsk,
    ManifestAnswer,
    ManifestAsk,
    QueryAnswer,
    QueryAsk,
)
from ..protocol.base import COMMAND_TIMEOUT, QUERY_TIMEOUT, READY_TIMEOUT, Json
from ..protocol.link import Result
from .checks import UnusableSchema, Validators, check_command, check_state_key
from .outbox import Outbox
from .replay import Entry
from .requests import Caller, Request, Requests
from .windows import View, Window

MAX_PENDING = 10_000
ORPHAN_TIME = 60.0
"""How long a command whose caller has gone may still answer and be recorded."""


class Calls:
    """Every call under way on a window. Whoever is in `requests` with a caller has not been answered yet."""

    def __init__(self, outbox: Outbox, requests: Requests) -> None:
        self._outbox = outbox
        self._requests = requests
        self._validators = Validators()

    def ask(self, caller: Caller, window: Window, ask: Ask, timeout: float | None) -> None:
        """Put a question to a window's applet, at once or when it is ready."""
        if isinstance(ask, DomAsk):
            window.require_iframe()
        else:
            window.require_applet()
        if self._requests.count_of(caller.peer) >= MAX_PENDING:
            raise TooManyCalls(f"{MAX_PENDING} calls are under way already: wait for some of them to be answered.")
        now = self._outbox.now
        usual = COMMAND_TIMEOUT if isinstance(ask, CommandAsk) else QUERY_TIMEOUT
        view = _answering(window, ask)
        if view is not None:
            self._check(view, ask)
        wait = READY_TIMEOUT if timeout is None else min(READY_TIMEOUT, timeout)
        deadline = now + (wait + usual if timeout is None else timeout)
        request = Request(self._requests.new_id("req"), window, ask, caller, now + wait, deadline)
        request.usual = usual if timeout is None else None
        self._requests.add(request)
        if view is not None:
            self._send(request, view)

    def let_in(self, window: Window) -> None:
        """Send what waited for the window to be ready: the seed's notifyAppReady."""
        for request in self._requests.waiting(window):
            view = _answering(window, request.ask)
            if view is None:
                continue
            try:
                self._check(view, request.ask)
            except AppletError as e:
                self.fail(request, e)
            else:
                self._send(request, view)

    def answered(self, request: Request, answer: Answer) -> Entry | None:
        """The applet has answered. Gives the log entry of a command that is to be replayed elsewhere."""
        caller = request.caller
        self._requests.pop(request)
        if request.view is not None:
            request.view.seq = max(request.view.seq, request.seq)
        if answer.__struct_config__.tag != request.ask.__struct_config__.tag:
            answer = QueryAnswer(None, "The applet's answer is of another kind than the question.", "INVALID_MESSAGE")
        if isinstance(answer.error, str):
            code = answer.code if answer.code in _CODES_OF_APPLETS else "HANDLER_FAILED"
            if caller is not None:
                error = from_wire(code, answer.error, _names(request.window.manifest, code))
                self._outbox.send_error(caller.peer, error, caller.call)
            return None
        value: Json = None
        entry = None
        match answer:
            case ManifestAnswer(manifest=AppManifest() as manifest):
                value = manifest.as_json()
                if request.view is not None:
                    request.view.manifest = manifest
            case QueryAnswer(data=value) | DomAnswer(data=value):
                pass
            case CommandAnswer(result=value):
                entry = self._record(request)
        if caller is not None:
            self._outbox.send(caller.peer, Result(caller.call, value, request.note))
        return entry

    def expire(self, request: Request) -> None:
        """Its time has come: the end of the wait for readiness, the deadline, or an orphan's."""
        window = request.window
        if request.due > self._outbox.now:
            return  # it was sent meanwhile, and has more time
        if request.caller is None:
            self._requests.pop(request)
        elif request.view is None and request.due < request.deadline and any(v.ready for v in window.views.values()):
            self._requests.reschedule(request, request.deadline)  # it has registered, and is being restored
        elif request.view is not None:
            self.fail(request, CallTimeout(f"Window {window.id!r} did not answer {_name(request.ask)} in time."))
        else:
            self.fail(request, _why_not_ready(window))

    def cancel(self, caller: Caller) -> None:
        request = self._requests.of(caller)
        if request is not None:
            self.fail(request, Cancelled("The call was cancelled."))

    def wrong_answer(self, request_id: str, peer: str, error: AppletError) -> None:
        """What came as the answer to a request cannot be read."""
        request = self._requests.get(request_id)
        if request is not None and request.view is not None and request.view.peer == peer:
            self.fail(request, error)

    def fail(self, request: Request, error: AppletError) -> None:
        if request.caller is not None:
            self._outbox.send_error(request.caller.peer, error, request.caller.call)
        self.abandon(request)

    def abandon(self, request: Request) -> None:
        """Nobody is answered any more. A command that was sent may still run, and then it is to be recorded."""
        if request.is_command and request.view is not None:
            self._requests.orphan(request)
            self._requests.reschedule(request, self._outbox.now + ORPHAN_TIME)
        else:
            self._requests.pop(request)

    def view_gone(self, view: View, why: str) -> None:
        """The document that was asked is gone. A question may go to another view; a command may have run."""
        window = view.window
        for request in self._requests.in_view(view):
            if request.is_command:
                self.fail(
                    request,
                    ViewGone(
                        f"The view of {window.id!r} that ran the command went away before it answered: {why}. "
                        "The command may or may not have taken effect."
                    ),
                )
            elif (other := window.answering()) is not None and other is not view:
                self._send(request, other)
            else:
                self.fail(request, ViewGone(f"The view of {window.id!r} went away before it answered: {why}."))

    def _check(self, view: View, ask: Ask) -> None:
        if view.manifest is None:
            return
        if isinstance(ask, QueryAsk):
            check_state_key(view.manifest, ask.state_key)
        elif isinstance(ask, CommandAsk):
            try:
                check_command(view.manifest, ask, self._validators)
            except UnusableSchema as e:
                text = f"The params schema of {ask.command!r} is not used: {e}."
                if text not in view.window.noted:
                    view.window.noted.add(text)
                    self._outbox.note(view.window, "warn", text)

    def _send(self, request: Request, view: View) -> None:
        window = view.window
        self._requests.move(request, view)
        request.revision = window.revision
        if request.usual is not None:
            request.deadline = self._outbox.now + request.usual
        if request.due != request.deadline:
            self._requests.reschedule(request, request.deadline)
        if window.answered_by not in (None, view.id):
            request.note = f"Another view of {window.id!r} answers now: the one that answered before went away."
        window.answered_by = view.id
        if isinstance(request.ask, ManifestAsk) and view.manifest is not None:
            self.answered(request, ManifestAnswer(view.manifest))
        else:
            request.seq = window.next_seq()
            self._outbox.send_request(request, view)

    def _record(self, request: Request) -> Entry | None:
        if not isinstance(request.ask, CommandAsk) or request.copy is None:
            return None
        if request.revision != request.window.revision:
            return None
        log = request.window.log
        lost = log.lost
        view = request.window.views.get(request.copy[0])
        entry = log.record(request.seq, request.ask, view.manifest if view else None, request.copy)
        if log.lost > lost == 0:
            self._outbox.note(
                request.window,
                "warn",
                "The command log is full and its oldest commands are dropped: a reload will not bring them back. "
                "Declare `snapshot: true` on a state key, and a `hydrate(state)` function.",
            )
        return entry


_CODES_OF_APPLETS = {
    error.code
    for error in (
        HandlerFailed,
        InvalidMessage,
        NotReady,
        ResultNotJson,
        TooLarge,
        UnknownCommand,
        UnknownStateKey,
        ViewGone,
    )
}
"""What a page may say of its applet's answer; an applet has no business with the others."""


def _answering(window: Window, ask: Ask) -> View | None:
    """The view to ask. A document can be read whether its applet has registered or not."""
    if isinstance(ask, DomAsk) and not window.asks:
        return window.answering() or next(iter(window.views.values()), None)
    return window.answering()


def _why_not_ready(window: Window) -> AppletError:
    if not window.views:
        return NotShown(
            f"No page shows window {window.id!r}: display it in a cell's output, in a notebook open in a browser."
        )
    if any(view.ready for view in window.views.values()):
        return CallTimeout(f"Window {window.id!r} was still being restored after a reload.")
    if window.asks:
        return NotReady(f"The applet in window {window.id!r} waits for a person to press Run in the page.")
    return NotReady(
        f"The applet in window {window.id!r} has not called window.yaar.app.register(…). "
        f"Its console may say why: app_query({window.id!r}, {CONSOLE_KEY!r})."
    )


def _names(manifest: AppManifest | None, code: str) -> list[str]:
    if manifest is None:
        return []
    if code == "UNKNOWN_STATE_KEY":
        return [MANIFEST_KEY, *manifest.state]
    return list(manifest.commands) if code == "UNKNOWN_COMMAND" else []


def _name(ask: Ask) -> str:
    match ask:
        case QueryAsk(state_key=key):
            return f"the query {key!r}"
        case CommandAsk(command=command):
            return f"the command {command!r}"
        case DomAsk(selector=selector):
            return f"what {selector!r} selects"
        case _:
            return "the manifest request"
