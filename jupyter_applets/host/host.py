"""Host: takes messages from kernels and pages, and gives back what to send. One method a message.

It must never touch a socket, a file or a clock: `now` comes in with each message.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from ..errors import AppletError, InternalError, ProtocolMismatch, UnknownTool, ViewGone
from ..protocol.app import AppProtocolReady, AppProtocolResponse, Ask
from ..protocol.base import MAX_MESSAGE_BYTES, PROTOCOL, Json
from ..protocol.frames import Wrong
from ..protocol.link import (
    Call,
    Cancel,
    ConsoleLines,
    Content,
    Hello,
    Interaction,
    Renderer,
    Result,
    Snapshot,
    ViewClosed,
    ViewOpened,
    ViewState,
    Welcome,
    WindowClosed,
    WindowContent,
    WindowReady,
)
from .calls import Calls
from .effects import Effect
from .outbox import Outbox, Peer, log
from .requests import Caller, Requests
from .restore import Restorer
from .windows import Away, View, Window, Windows

FORGET_AFTER = 600.0


class Later:
    """What a tool returns when the host will reply by itself."""


LATER = Later()

Tool: TypeAlias = Callable[["Host", Caller, dict[str, Json], "float | None"], Any]
"""`tool(host, caller, arguments, timeout)` gives the value to reply with, or LATER, or raises an AppletError."""


class Host:
    """Windows, the calls on them, and the peers that make and answer these calls."""

    def __init__(self, tools: Mapping[str, Tool], *, version: str, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.id = uuid.uuid4().hex
        self.windows = Windows()
        self._version = version
        self._tools = tools
        self._max_message_bytes = max_message_bytes
        self._outbox = Outbox()
        self._requests = Requests()
        self._calls = Calls(self._outbox, self._requests)
        self._restorer = Restorer(self._outbox, self._requests, self._calls.let_in)

    # ---- ways in, for a shell

    def connect(self, peer: str, role: Literal["kernel", "page"], session: str, now: float) -> list[Effect]:
        """A connection is open. A page that knows only the seed's messages never says more than this."""
        self._outbox.now = now
        self._outbox.peers[peer] = Peer(role, session)
        return self._done()

    def receive(self, peer: str, message: Any, now: float) -> list[Effect]:
        self._outbox.now = now
        known = self._outbox.peers[peer]
        if isinstance(message, Wrong):
            self._outbox.log_once(message.error.message)
            self._outbox.send_error(peer, message.error, message.id)
            if message.request_id is not None:
                self._calls.wrong_answer(message.request_id, peer, message.error)
        elif known.refused is not None and not isinstance(message, Hello):
            self._outbox.send_error(peer, known.refused, getattr(message, "id", None))
        else:
            _HANDLERS[type(message)](self, peer, message)
        return self._done()

    def disconnect(self, peer: str, now: float) -> list[Effect]:
        self._outbox.now = now
        if self._outbox.peers.pop(peer, None) is not None:
            for request in self._requests.of_peer(peer):
                self._calls.abandon(request)
            self._remove_views(self._views_of(peer), "its page's connection was cut", cut=True)
            self._note_idle()
        return self._done()

    def recover(self) -> list[Effect]:
        """What was to be sent before a message failed inside: those who wait for it must not suffer for it."""
        return self._done()

    def wake(self, now: float) -> list[Effect]:
        """A time asked for by `WakeAt` has come."""
        self._outbox.now = now
        self._outbox.woken()
        for request in self._requests.due(now):
            if request.view is not None and request.view.step == request.id:
                self._restorer.answered(request.view, request, None)
            else:
                self._calls.expire(request)
        for window in [w for w in self.windows if w.idle_since is not None and now >= w.idle_since + FORGET_AFTER]:
            self.windows.forget(window)
        return self._done()

    # ---- what tools use

    def session_of(self, caller: Caller) -> str:
        return self._outbox.peers[caller.peer].session

    def ask(self, caller: Caller, window: Window, ask: Ask, timeout: float | None) -> Later:
        """Put a question to a window's applet; the caller is replied to when there is an answer."""
        self._calls.ask(caller, window, ask, timeout)
        return LATER

    def show(
        self, session: str, window_id: str, revision: int, content: Content, renderer: Renderer = "iframe"
    ) -> Window:
        """Give a window its content. A higher revision takes the window over: new documents, empty log."""
        window = self.windows.open(session, window_id)
        if revision > window.revision:
            self._take_over(window, revision)
        if revision == window.revision:
            window.content, window.renderer, window.title = content, renderer, content.title
            for view in window.views.values():
                self._mirror(view)
        self._note_idle()
        return window

    def close(self, window: Window) -> None:
        for view in window.views.values():
            self._outbox.send(view.peer, WindowClosed(window.id))
        self._remove_views(list(window.views.values()), "the window was closed")
        for request in self._requests.waiting(window):
            self._calls.fail(request, ViewGone(f"Window {window.id!r} was closed."))
        self.windows.forget(window)
        self._outbox.tell_kernels(window.session, WindowClosed(window.id))

    # ---- messages of any peer

    def _hello(self, peer: str, hello: Hello) -> None:
        known = self._outbox.peers[peer]
        if hello.protocol != PROTOCOL:
            side = f"the {hello.role}" if hello.protocol < PROTOCOL else "the server"
            known.refused = ProtocolMismatch(
                f"The {hello.role} has jupyter_applets {hello.version} (protocol {hello.protocol}), the server has "
                f"{self._version} (protocol {PROTOCOL}): upgrade jupyter_applets in the environment of {side}."
            )
            self._outbox.send_error(peer, known.refused)
            return
        known.refused = None
        known.session = hello.session
        self._outbox.send(peer, Welcome(PROTOCOL, self._version, self.id, self._max_message_bytes))
        if known.role == "page":
            announced = {state.view_id for state in hello.views}
            gone = [view for view in self._views_of(peer) if view.id not in announced]
            self._remove_views(gone, "its page no longer shows it")
            for state in hello.views:
                self._announce(peer, state)
        self._note_idle()

    # ---- messages of kernels

    def _call(self, peer: str, call: Call) -> None:
        caller = Caller(peer, call.id)
        if self._requests.of(caller) is not None:
            self._outbox.log_once(f"a call id was used again before its reply, the second call is dropped: {call.id}")
            return
        timeout = None if call.timeout_ms is None else max(0.0, call.timeout_ms / 1000)
        try:
            tool = self._tools.get(call.name)
            if tool is None:
                raise UnknownTool(f"There is no tool {call.name!r}. Tools: {', '.join(self._tools)}.", [*self._tools])
            value = tool(self, caller, call.arguments, timeout)
        except AppletError as e:
            self._outbox.send_error(peer, e, call.id)
        except Exception:
            log.exception("the tool %s failed", call.name)
            self._outbox.send_error(peer, InternalError(f"{call.name} failed: the host's log says why."), call.id)
        else:
            if value is not LATER:
                self._outbox.send(peer, Result(call.id, value))

    def _cancel(self, peer: str, cancel: Cancel) -> None:
        self._calls.cancel(Caller(peer, cancel.id))

    # ---- messages of pages

    def _view_opened(self, peer: str, message: ViewOpened) -> None:
        self._announce(peer, message.view)
        self._note_idle()

    def _view_closed(self, peer: str, message: ViewClosed) -> None:
        view = self.windows.view(message.view_id)
        if view is not None and view.peer == peer:
            self._remove_views([view], "it was closed or moved")
            self._note_idle()

    def _ready(self, peer: str, message: AppProtocolReady) -> None:
        session = self._outbox.peers[peer].session
        window = self.windows.open(session, message.window_id)
        view_id = message.view_id or f"{peer}/{message.window_id}"
        view = window.views.get(view_id)
        if view is None:
            view = self._add_view(peer, window, ViewState(view_id, window.id, revision=window.revision))
        if view.peer != peer or (message.revision is not None and message.revision < view.revision):
            return  # another page's view, or a document that is being replaced
        # A peer that names no document says ready again only after a reload, as the seed has it.
        document = view.document + 1 if message.document is None else message.document
        again = view.ready and view.document == document
        if not again:
            self._end_document(view, "the applet was reloaded")
        view.document, view.manifest, view.hydrates = document, message.manifest, message.hydrates
        if again:
            self._outbox.note(window, "warn", "register was called again: the new registration replaces the old one.")
        else:
            self._restorer.ready(view)
        self._outbox.tell_kernels(session, WindowReady(window.id, message.manifest))

    def _response(self, peer: str, message: AppProtocolResponse) -> None:
        request = self._requests.get(message.request_id)
        if request is None or request.view is None:
            return  # answered already, or too late
        view = request.view
        if view.peer != peer and view.id not in {known.id for known in self._views_of(peer)}:
            self._outbox.log_once("a peer answered a request that was put to another one; the answer was dropped")
        elif view.step == request.id:
            self._restorer.answered(view, request, message.response)
        else:
            entry = self._calls.answered(request, message.response)
            if entry is not None:
                self._restorer.mirror(entry, request.window)

    def _interaction(self, peer: str, message: Interaction) -> None:
        self._outbox.tell_kernels(self._outbox.peers[peer].session, message)

    def _console(self, peer: str, message: ConsoleLines) -> None:
        session = self._outbox.peers[peer].session
        window = self.windows.get(session, message.window_id)
        if window is not None:
            window.console.extend(message.entries)
            self._outbox.tell_kernels(session, message)

    def _snapshot(self, peer: str, message: Snapshot) -> None:
        view = self.windows.view(message.view_id)
        if view is not None and view.peer == peer and view is view.window.answering():
            view.window.log.take_snapshot(message.state, view.seq)

    # ---- views

    def _views_of(self, peer: str) -> list[View]:
        return [view for window in self.windows for view in window.views.values() if view.peer == peer]

    def _announce(self, peer: str, state: ViewState) -> None:
        """A page says what one of its views shows: for the first time, or again after a cut or a reload."""
        window = self.windows.open(self._outbox.peers[peer].session, state.window_id)
        old = window.views.get(state.view_id)
        if old is not None and old.peer == peer and (old.document, old.ready) == (state.document, state.ready):
            return  # a hello that only asks whether the host is still there
        if old is not None:
            cut = old.peer != peer
            self._remove_views([old], "its page connected again" if cut else "the applet was reloaded", cut=cut)
        if state.revision > window.revision:
            self._take_over(window, state.revision)
            window.content, window.title = None, state.title
        view = self._add_view(peer, window, state)
        if state.revision < window.revision:
            self._mirror(view)
        elif state.ready:
            if state.settled and view.id not in window.away:
                # Another host had it, so it lacks just what this one recorded; the rest is told by its snapshot.
                window.away[view.id] = Away(view.document, 0, 0, ())
                if state.snapshot is not None and window.log.snapshot is None:
                    window.log.take_snapshot(state.snapshot, 0)
            self._restorer.ready(view)
            self._outbox.tell_kernels(window.session, WindowReady(window.id, state.manifest))

    def _add_view(self, peer: str, window: Window, state: ViewState) -> View:
        view = View(state.view_id, peer, window, state.revision, state.document, False, state.manifest, state.hydrates)
        window.views[view.id] = view
        window.idle_since = None
        return view

    def _mirror(self, view: View) -> None:
        """Have a view show the window's content, when it shows an older one."""
        window = view.window
        if view.revision < window.revision and window.content is not None:
            view.revision = window.revision
            self._end_document(view, "the window's content was replaced")
            self._outbox.send(view.peer, WindowContent(window.id, window.revision, window.content))

    def _take_over(self, window: Window, revision: int) -> None:
        window.revision = revision
        window.log.clear()
        window.away.clear()
        window.noted.clear()
        window.console.clear()
        window.pin = window.answered_by = None
        for view in window.views.values():
            self._end_document(view, "the window's content was replaced")

    def _end_document(self, view: View, why: str) -> None:
        """The view's document is gone; another may come."""
        view.ready = False
        view.seq = 0
        if view.window.pin is view:
            view.window.pin = None
        self._restorer.stop(view)
        self._calls.view_gone(view, why)

    def _remove_views(self, views: list[View], why: str, *, cut: bool = False) -> None:
        """They are gone. Those that were only `cut` off may come back with the documents they have."""
        for view in views:
            view.window.leave(view)
            if not cut:
                view.window.away.pop(view.id, None)
        for view in views:
            self._end_document(view, why)
        for window in {view.window for view in views}:
            self._calls.let_in(window)

    # ---- time

    def _note_idle(self) -> None:
        """A window that no kernel and no page has is kept for a while, then forgotten."""
        kept = {known.session for known in self._outbox.peers.values() if known.role == "kernel"}
        for window in self.windows:
            if window.views or window.session in kept:
                window.idle_since = None
            elif window.idle_since is None:
                window.idle_since = self._outbox.now

    def _done(self) -> list[Effect]:
        times = [w.idle_since + FORGET_AFTER for w in self.windows if w.idle_since is not None]
        if (due := self._requests.next_due) is not None:
            times.append(due)
        return self._outbox.take(min(times, default=None))


_HANDLERS: dict[type, Callable[[Host, str, Any], None]] = {
    Hello: Host._hello,
    Call: Host._call,
    Cancel: Host._cancel,
    ViewOpened: Host._view_opened,
    ViewClosed: Host._view_closed,
    AppProtocolReady: Host._ready,
    AppProtocolResponse: Host._response,
    Interaction: Host._interaction,
    ConsoleLines: Host._console,
    Snapshot: Host._snapshot,
}
