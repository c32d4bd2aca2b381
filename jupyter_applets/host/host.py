"""Host: takes messages from kernels and pages, and gives back what to do. One method a message.

It must never touch a socket, a file or a clock: `now` comes in with each message.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import structs

from ..errors import AppletError, InternalError, ProtocolMismatch, UnknownTool, ViewGone, WindowNotFound
from ..protocol.app import Ask
from ..protocol.base import MAX_MESSAGE_BYTES, PROTOCOL, Json
from ..protocol.channel import FileChanged
from ..protocol.frames import Wrong
from ..protocol.link import (
    Call,
    Cancel,
    Content,
    Hello,
    Renderer,
    Result,
    Welcome,
)
from . import pages, speaking
from .acting import Acting
from .agents import Agents
from .answers import Answers
from .audience import Audience
from .calls import Calls
from .decisions import Decisions, RunPolicy
from .desks import Desks
from .effects import Effect, Perform, Stream, Watch
from .keeping import Keeping
from .outbox import Outbox, Peer, log
from .requests import Caller, Requests
from .restore import Restorer
from .sessions import Sessions
from .showing import Showing
from .speaking import Limits
from .subscriptions import Subscriber, Subscriptions
from .turns import Turns
from .updates import Updates
from .windows import Window, Windows

FORGET_AFTER = 600.0


class Later:
    """What a tool returns when the host will reply by itself."""


LATER = Later()

Tool: TypeAlias = Callable[["Host", Caller, dict[str, Json], "float | None"], Any]
"""`tool(host, caller, arguments, timeout)` gives the value to reply with, or LATER, or raises an AppletError."""

OnMessage: TypeAlias = Callable[["Host", str, Any], None]
"""`on_message(host, peer, message)` may raise an AppletError, which the peer is told under the message's id."""


class Host:
    """Windows, the calls on them, and the peers that make and answer these calls.

    `messages` are the handlers of what a page may say beyond the host's own; `changed(host, path)` hears of files.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        version: str,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        messages: Mapping[type, OnMessage] | None = None,
        changed: Callable[[Host, str], None] | None = None,
        run: RunPolicy = "auto",
        clock: Callable[[], str],
    ) -> None:
        self.id = uuid.uuid4().hex
        self.clock = clock
        self.windows = Windows()
        self.decisions = Decisions(run)
        self.subscriptions = Subscriptions()
        self._version = version
        self._tools = tools
        self._handlers = {**_HANDLERS, **pages.MESSAGES, **speaking.MESSAGES, **(messages or {})}
        self._changed = changed
        self._watches_applets = False
        self._max_message_bytes = max_message_bytes
        self.outbox = Outbox()
        self.requests = Requests()
        self.calls = Calls(self.outbox, self.requests)
        self.restorer = Restorer(self.outbox, self.requests, self.calls.let_in)
        self.desks = Desks(self.outbox, self.windows)
        self.updates = Updates(self.outbox, self.desks)
        self.showing = Showing(self.outbox, self.windows, self.calls, self.restorer, self.updates, self.decisions)
        self.sessions = Sessions()
        self.chats: set[str] = set()
        self.limits = Limits()
        self.agents = Agents(self.outbox, self.chats)
        self.keeping = Keeping(self.outbox)
        audience = Audience(self.outbox, self.chats)
        parts = (self.outbox, self.sessions, self.agents, self.keeping, audience)
        self.turns = Turns(*parts, clock)
        self.acting = Acting(self.outbox, self.windows, self.requests, self.sessions)
        self.answers = Answers(*parts, self.turns, clock, self.acting.content_of)
        self.updates.changed = self.acting.state_changed

    # ---- ways in, for a shell

    def connect(self, peer: str, role: Literal["kernel", "page"], session: str, now: float) -> list[Effect]:
        """A connection is open. A page that knows only the seeds' messages never says more than this."""
        self.outbox.now = now
        self.outbox.peers[peer] = Peer(role, session)
        return self._done()

    def receive(self, peer: str, message: Any, now: float) -> list[Effect]:
        self.outbox.now = now
        known = self.outbox.peers[peer]
        if isinstance(message, Wrong):
            self.outbox.log_once(message.error.message)
            self.outbox.send_error(peer, message.error, message.id)
            if message.request_id is not None:
                self.calls.wrong_answer(message.request_id, peer, message.error)
        elif known.refused is not None and not isinstance(message, Hello):
            self.outbox.send_error(peer, known.refused, getattr(message, "id", None))
        else:
            try:
                self._handlers[type(message)](self, peer, message)
            except AppletError as e:
                self.outbox.send_error(peer, e, getattr(message, "id", None))
            except Exception:
                log.exception("a message of %s failed: %s", peer, type(message).__name__)
                failed = InternalError(f"{type(message).__name__} failed: the host's log says why.")
                self.outbox.send_error(peer, failed, getattr(message, "id", None))
        return self._done()

    def disconnect(self, peer: str, now: float) -> list[Effect]:
        self.outbox.now = now
        if peer in self.outbox.peers:
            self.chats.discard(peer)
            self.turns.drop(peer)
            self.outbox.drop(peer)
            del self.outbox.peers[peer]
            for request in self.requests.of_peer(peer):
                self.calls.abandon(request)
            self.showing.remove(self.showing.of(peer), "its page's connection was cut", cut=True)
            self.desks.drop(peer)
            self.do(self.subscriptions.drop(peer))
            self.note_idle()
        return self._done()

    def recover(self) -> list[Effect]:
        """What was to be sent before a message failed inside: those who wait for it must not suffer for it."""
        return self._done()

    def wake(self, now: float) -> list[Effect]:
        """A time asked for by `WakeAt` has come."""
        self.outbox.now = now
        self.outbox.woken()
        for request in self.requests.due(now):
            if request.view is not None and request.view.step == request.id:
                self.restorer.answered(request.view, request, None)
            else:
                self.calls.expire(request)
        self.turns.wake()
        for window in [w for w in self.windows if w.idle_since is not None and now >= w.idle_since + FORGET_AFTER]:
            self._forget(window)
        return self._done()

    def performed(self, done: Callable[[Any], None], outcome: Any, now: float) -> list[Effect]:
        """The work of a `Perform` has come to its end."""
        self.outbox.now = now
        try:
            done(outcome)
        except Exception:
            log.exception("what was done beside the loop could not be taken over")
        return self._done()

    def file_changed(self, path: str, event: Literal["created", "modified", "deleted"], now: float) -> list[Effect]:
        """Something happened at a path that a `Watch` named."""
        self.outbox.now = now
        for subscriber, name in self.subscriptions.told(path):
            self.outbox.send(subscriber.peer, FileChanged(name, event, subscriber.window_id))
        if self._changed is not None:
            self._changed(self, path)
        return self._done()

    def watched(self, watch: Watch, error: AppletError | None, now: float) -> list[Effect]:
        """A `Watch` has begun, or cannot be done: then whoever else waits for news of that path is told so."""
        self.outbox.now = now
        if watch.done is not None:
            watch.done(error)
        if error is not None:
            log.warning("%r is not watched: %s", watch.path, error.message)
            for subscriber in self.subscriptions.give_up(watch.path):
                self.outbox.send_error(subscriber.peer, error)
        return self._done()

    # ---- what tools use

    def session_of(self, caller: Caller) -> str:
        return self.outbox.peers[caller.peer].session

    def vouches(self, caller: Caller) -> bool:
        """Whether what the caller shows may run: it is a kernel of the user's own."""
        return self.outbox.peers[caller.peer].role == "kernel"

    def ask(self, caller: Caller, window: Window, ask: Ask, timeout: float | None) -> Later:
        """Put a question to a window's applet; the caller is replied to when there is an answer."""
        self.calls.ask(caller, window, ask, timeout)
        return LATER

    def reply(self, caller: Caller, value: Json) -> None:
        """The one reply to a call that a tool answered with LATER: a value, or an AppletError."""
        if isinstance(value, AppletError):
            self.outbox.send_error(caller.peer, value, caller.call)
        else:
            self.outbox.send(caller.peer, Result(caller.call, value))

    def perform(
        self,
        work: Callable[[Any], Any],
        done: Callable[[Any], None],
        *,
        peer: str | None = None,
        ordered: bool = True,
    ) -> Later:
        """Have something done off the loop; `done` gets the value, or the AppletError that it ended with.

        For one `peer`, what is not ordered is done after what it asked for before and is.
        """
        self.outbox.add(Perform(work, done, ordered, peer))
        return LATER

    def answer(
        self,
        caller: Caller,
        work: Callable[[Any], Any],
        make: Callable[[Any], Json] = lambda value: value,
        *,
        ordered: bool = True,
    ) -> Later:
        """The same for a call, which is replied to with what `make` makes of the value, or with the error."""

        def done(outcome: Any) -> None:
            self.reply(caller, self.made(make, outcome))

        return self.perform(work, done, peer=caller.peer, ordered=ordered)

    def made(self, make: Callable[[Any], Json], outcome: Any) -> Json:
        """`make(outcome)`, or an AppletError: the outcome itself, or one that tells why it could not be made."""
        if isinstance(outcome, AppletError):
            return outcome
        try:
            return make(outcome)
        except AppletError as e:
            return e
        except Exception:
            log.exception("what was done beside the loop could not be taken over")
            return InternalError("It was done, but failed inside the host after that: the host's log says why.")

    def stream(self, peer: str, work: Callable[[Any], Iterator[Any]], failed: Callable[[AppletError], Any]) -> None:
        self.outbox.add(Stream(peer, work, failed))

    def send(self, peer: str, message: Any) -> None:
        self.outbox.send(peer, message)

    def note(self, window: Window, level: Literal["warn", "error"], text: str) -> None:
        self.outbox.note(window, level, text)

    def meant(self, peer: str, window_id: str | None) -> Window:
        """The window that a page's message is about: the one it names in its session, else the active one."""
        session = self.outbox.peers[peer].session
        window = self.desks.meant(session) if window_id is None else self.windows.get(session, window_id)
        if window is None:
            named = f"There is no window {window_id!r}" if window_id is not None else "No window is open"
            raise WindowNotFound(f"{named} in session {session!r}.")
        return window

    def show(
        self,
        window_id: str,
        revision: int | None,
        content: Content,
        renderer: Renderer = "iframe",
        *,
        state: dict[str, Json] | None = None,
        session: str,
        vouched: bool,
        by: str | None = None,
    ) -> Window:
        """Give a window its content: without a revision, as the newest. `by` is the peer that knows of it already."""
        known = self.windows.get(session, window_id)
        window = self.windows.open(session, window_id)
        newest = window.revision + 1 if revision is None else revision
        try:
            self.showing.show(window, newest, content, renderer, by=by, vouched=vouched, state=state)
        except AppletError:
            if known is None:
                self.windows.forget(window)
            raise
        self._watch_applets(content)
        self.note_idle()
        return window

    def became(self, window: Window, content: Content) -> None:
        """What the window shows is now a saved applet; its document goes on."""
        if self.decisions.carry(window, content.slug):
            self.keep_decisions()
        self.showing.show(window, window.revision, content, window.renderer, vouched=window.vouched)
        self._watch_applets(content)

    def unsaved(self, slug: str) -> None:
        """The saved applet is gone: the windows that show it go on, and what was allowed is forgotten."""
        if self.decisions.forget(slug):
            self.keep_decisions()
        for window in self.windows:
            if window.content is not None and window.slug == slug:
                content = structs.replace(window.content, slug="")
                self.showing.show(window, window.revision, content, window.renderer, vouched=window.vouched)

    def reload(self, window: Window, content: Content) -> None:
        """A new document of the same applet, with its state and its log."""
        self.showing.show(window, window.revision + 1, content, window.renderer, vouched=window.vouched)

    def _watch_applets(self, content: Content) -> None:
        if content.slug and not self._watches_applets:
            self._watches_applets = True
            self.outbox.add(Watch("", tree=True))

    def subscribe(self, path: str, subscriber: Subscriber, done: Callable[[AppletError | None], None]) -> None:
        """From `done(None)` on the subscriber hears of every change; with an error, it is none."""

        def begun(error: AppletError | None) -> None:
            if error is not None:
                self.unsubscribe(subscriber)
            done(error)

        effects = self.subscriptions.add(path, subscriber) if subscriber.peer in self.outbox.peers else []
        if effects:
            self.outbox.add(Watch(path, done=begun))
        else:
            done(None)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        self.do(self.subscriptions.remove(subscriber))

    def close(self, window: Window) -> None:
        self.showing.close(window)
        for request in self.requests.waiting(window):
            self.calls.fail(request, ViewGone(f"Window {window.id!r} was closed."))
        for peer in [p for p, known in self.outbox.peers.items() if known.session == window.session]:
            self.do(self.subscriptions.drop(peer, window.id))
        self._forget(window)

    def _forget(self, window: Window) -> None:
        self.windows.forget(window)
        self.limits.forget(window)
        self.acting.forget(window)

    def decided(self, window: Window) -> None:
        """A person decided something: every view is told, and an applet that may not read files hears of none."""
        self.showing.decided(window)
        if not self.decisions.may_read(window):
            for peer, known in self.outbox.peers.items():
                if known.session == window.session:
                    self.do(self.subscriptions.drop(peer, window.id))

    def keep_decisions(self, done: Callable[[Any], None] = lambda outcome: None) -> Later:
        """Write down what people have decided. It holds, whether that can be done or not."""

        def kept_or_not(outcome: Any) -> None:
            if isinstance(outcome, AppletError):
                log.warning("what people decided holds, but was not kept: %s", outcome.message)
            done(outcome)

        changes = self.decisions.take_changes()
        return self.perform(lambda services: services.decisions.change(changes), kept_or_not)

    # ---- messages of any peer

    def _hello(self, peer: str, hello: Hello) -> None:
        known = self.outbox.peers[peer]
        if hello.protocol != PROTOCOL:
            side = f"the {hello.role}" if hello.protocol < PROTOCOL else "the server"
            known.refused = ProtocolMismatch(
                f"The {hello.role} has jupyter_applets {hello.version} (protocol {hello.protocol}), the server has "
                f"{self._version} (protocol {PROTOCOL}): upgrade jupyter_applets in the environment of {side}."
            )
            self.outbox.send_error(peer, known.refused)
            return
        known.refused = None
        known.greeted = True
        known.session, known.id = hello.session, hello.id
        self.outbox.send(peer, Welcome(PROTOCOL, self._version, self.id, self._max_message_bytes))
        if known.role == "page":
            announced = {state.view_id for state in hello.views}
            gone = [view for view in self.showing.of(peer) if view.id not in announced]
            self.showing.remove(gone, "its page no longer shows it")
            for state in hello.views:
                self.showing.announce(peer, state)
        self.note_idle()

    # ---- messages of kernels

    def _call(self, peer: str, call: Call) -> None:
        caller = Caller(peer, call.id)
        if self.requests.of(caller) is not None:
            self.outbox.log_once(f"a call id was used again before its reply, the second call is dropped: {call.id}")
            return
        timeout = None if call.timeout_ms is None else max(0.0, call.timeout_ms / 1000)
        try:
            tool = self._tools.get(call.name)
            if tool is None:
                raise UnknownTool(f"There is no tool {call.name!r}. Tools: {', '.join(self._tools)}.", [*self._tools])
            if call.turn is not None:
                self.acting.turn = self.answers.acting(call.turn, caller, call.name, call.arguments)
            value = tool(self, caller, call.arguments, timeout)
        except AppletError as e:
            self.outbox.send_error(peer, e, call.id)
        except Exception:
            log.exception("the tool %s failed", call.name)
            self.outbox.send_error(peer, InternalError(f"{call.name} failed: the host's log says why."), call.id)
        else:
            if value is not LATER:
                self.outbox.send(peer, Result(call.id, value))
        finally:
            if self.acting.turn is not None:
                self.acting.done(caller, call.arguments)

    def _cancel(self, peer: str, cancel: Cancel) -> None:
        self.calls.cancel(Caller(peer, cancel.id))

    # ---- time

    def note_idle(self) -> None:
        """A window that no kernel and no page has is kept for a while, then forgotten."""
        kept = {known.session for known in self.outbox.peers.values() if known.role == "kernel"}
        for window in self.windows:
            if window.views or window.session in kept:
                window.idle_since = None
            elif window.idle_since is None:
                window.idle_since = self.outbox.now

    def do(self, effects: list[Effect]) -> None:
        for effect in effects:
            self.outbox.add(effect)

    def _done(self) -> list[Effect]:
        self.desks.tell()
        times = [w.idle_since + FORGET_AFTER for w in self.windows if w.idle_since is not None]
        times += [due for due in (self.requests.next_due, self.turns.next_due) if due is not None]
        return self.outbox.take(min(times, default=None))


_HANDLERS: dict[type, OnMessage] = {
    Hello: Host._hello,
    Call: Host._call,
    Cancel: Host._cancel,
}
