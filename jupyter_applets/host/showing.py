"""What windows show, and the views that show it: contents come and go, views open, load, are cut off and close."""

from __future__ import annotations

import msgspec
from msgspec import structs

from ..errors import TooLarge
from ..protocol.app import AppProtocolReady, CommandAsk
from ..protocol.base import Json
from ..protocol.channel import COMMANDS_KEY, RESERVED, SNAPSHOT_KEY
from ..protocol.link import (
    Content,
    ContentChunk,
    Renderer,
    StateChanged,
    ViewState,
    WindowClosed,
    WindowContent,
    WindowReady,
)
from . import state as states
from .calls import Calls
from .decisions import Decisions
from .outbox import Outbox
from .restore import Restorer
from .updates import Updates
from .windows import Away, View, Window, Windows


class Showing:
    """Gives windows their contents, and each view what it is to show."""

    def __init__(
        self,
        outbox: Outbox,
        windows: Windows,
        calls: Calls,
        restorer: Restorer,
        updates: Updates,
        decisions: Decisions,
    ) -> None:
        self._outbox = outbox
        self._windows = windows
        self._calls = calls
        self._restorer = restorer
        self._updates = updates
        self._decisions = decisions

    # ---- contents

    def show(
        self,
        window: Window,
        revision: int,
        content: Content,
        renderer: Renderer = "iframe",
        *,
        by: str | None = None,
        vouched: bool = False,
        state: dict[str, Json] | None = None,
    ) -> None:
        """Give a window its content. A higher revision takes the window over: new documents, and, unless it is the
        same saved applet again, an empty log and the given state. Raises TooLarge, and then nothing was done."""
        if revision < window.revision:
            return
        if revision > window.revision:
            keep = bool(content.slug) and content.slug == window.slug
            if not keep:
                states.check(state or {})
            self._take_over(window, revision, keep=keep)
            if not keep:
                self._begin(window, state or {})
        elif window.content is None and state:
            # A page was faster than the kernel that made the applet, or the host is new: what it has is newer.
            self._complete(window, state)
        before, asked = window.content, not self._decisions.may_run(window)
        window.content, window.renderer, window.title = content, renderer, content.title
        window.vouched = vouched
        for view in list(window.views.values()):
            if view.revision < revision:
                self._mirror(view)
            elif (before is not None and before != content) or (asked and self._decisions.may_run(window)):
                self._tell_again(view, content)
        if before != content:
            self._outbox.tell_kernels(
                window.session, self._message(window, content, window.state.shown(), run=True), but=by
            )

    def stream(self, window: Window, html: str) -> None:
        """More of a content that is streaming."""
        if window.content is None:
            return
        chunk = ContentChunk(window.id, window.revision, len(window.content.html), html)
        window.content = structs.replace(window.content, html=window.content.html + html)
        for view in window.views.values():
            if view.revision == window.revision:
                self._outbox.send(view.peer, chunk)

    def kept(self, window: Window) -> dict[str, Json]:
        """All that brings the applet back to where it is, as one mapping: `show` takes it as the state."""
        log = window.log
        kept = dict(window.state.values)
        covered = -1
        if log.snapshot is not None:
            kept[SNAPSHOT_KEY] = log.snapshot.state
            covered = log.snapshot.seq
        commands: list[dict[str, Json]] = [
            {"command": e.command} if e.params is msgspec.UNSET else {"command": e.command, "params": e.params}
            for e in log.entries
            if e.seq > covered
        ]
        return {**kept, COMMANDS_KEY: commands} if commands else kept

    def close(self, window: Window) -> None:
        """Tell every view; the caller forgets the window."""
        for view in window.views.values():
            self._outbox.send(view.peer, WindowClosed(window.id))
        self.remove(list(window.views.values()), "the window was closed")
        self._outbox.tell_kernels(window.session, WindowClosed(window.id))

    def decided(self, window: Window) -> None:
        """A person decided something: every view is told."""
        for view in window.views.values():
            self._tell_again(view)

    # ---- views

    def of(self, peer: str) -> list[View]:
        return [view for window in self._windows for view in window.views.values() if view.peer == peer]

    def announce(self, peer: str, state: ViewState) -> None:
        """A page says what one of its views shows: for the first time, or again after a cut or a reload."""
        window = self._windows.open(self._outbox.peers[peer].session, state.window_id)
        old = window.views.get(state.view_id)
        if old is not None and old.peer == peer and (old.document, old.ready) == (state.document, state.ready):
            # A hello that only asks whether the host is still there, or a view that missed a piece of the HTML.
            self._tell(old, _streaming(window))
            return
        if old is not None:
            cut = old.peer != peer
            self.remove([old], "its page connected again" if cut else "the applet was reloaded", cut=cut)
        if state.revision > window.revision:
            self._take_over(window, state.revision, keep=False)
            self._begin(window, {})
            window.content, window.title, window.vouched = None, state.title, False
        view = self.add(peer, window, state)
        if state.revision < window.revision and window.content is not None:
            self._mirror(view)
            self._calls.let_in(window)
            return
        if state.settled and view.id not in window.away:
            self._adopt(window, state)
        self._tell(view, _streaming(window), running=state.settled)
        self._calls.let_in(window)
        if state.ready:
            if state.settled and view.id not in window.away:
                # Another host had it, so it lacks just what this one recorded; the rest is told by its snapshot.
                window.away[view.id] = Away(view.document, 0, 0, ())
                if state.snapshot is not None and window.log.snapshot is None:
                    window.log.take_snapshot(state.snapshot, 0)
            self._restorer.ready(view)
            self._outbox.tell_kernels(window.session, WindowReady(window.id, state.manifest))

    def add(self, peer: str, window: Window, state: ViewState) -> View:
        view = View(state.view_id, peer, window, state.revision, state.document, False, state.manifest, state.hydrates)
        window.views[view.id] = view
        window.idle_since = None
        return view

    def ready(self, peer: str, message: AppProtocolReady) -> None:
        """An applet has registered."""
        session = self._outbox.peers[peer].session
        window = self._windows.open(session, message.window_id)
        view_id = message.view_id or f"{peer}/{message.window_id}"
        view = window.views.get(view_id)
        if view is None:
            view = self.add(peer, window, ViewState(view_id, window.id, revision=window.revision))
        if view.peer != peer or (message.revision is not None and message.revision < view.revision):
            return  # another page's view, or a document that is being replaced
        # A peer that names no document says ready again only after a reload, as the seed has it.
        document = view.document + 1 if message.document is None else message.document
        again = view.ready and view.document == document
        if not again:
            self.end_document(view, "the applet was reloaded")
        view.document, view.manifest, view.hydrates = document, message.manifest, message.hydrates
        if again:
            self._outbox.note(window, "warn", "register was called again: the new registration replaces the old one.")
        else:
            self._restorer.ready(view)
        self._outbox.tell_kernels(session, WindowReady(window.id, message.manifest))

    def end_document(self, view: View, why: str) -> None:
        """The view's document is gone; another may come."""
        view.ready = False
        view.seq = 0
        if view.window.pin is view:
            view.window.pin = None
        self._restorer.stop(view)
        self._calls.view_gone(view, why)

    def remove(self, views: list[View], why: str, *, cut: bool = False) -> None:
        """They are gone. Those that were only `cut` off may come back with the documents they have."""
        for view in views:
            view.window.leave(view)
            if not cut:
                view.window.away.pop(view.id, None)
        for view in views:
            self.end_document(view, why)
        for window in {view.window for view in views}:
            self._calls.let_in(window)

    # ---- inside

    def _mirror(self, view: View) -> None:
        """Have a view show the window's content, when it shows an older one."""
        window = view.window
        if view.revision < window.revision and window.content is not None:
            view.revision = window.revision
            self.end_document(view, "the window's content was replaced")
            self._tell(view, window.content)

    def _tell(self, view: View, content: Content | None = None, *, running: bool = False) -> None:
        """What the view needs to load its document, or to go on with the one it has."""
        if not self._outbox.greeted(view.peer):
            return
        window = view.window
        view.state_sent = window.state.rev
        run = running or self._decisions.may_run(window)
        window.asks = not run
        message = self._message(window, content, window.state.values, run)
        self._outbox.send(view.peer, structs.replace(message, view_id=view.id, revision=view.revision))

    def _tell_again(self, view: View, content: Content | None = None) -> None:
        """The same to a view whose document goes on: without the state, of which it is told each change by itself. What
        it sets in this moment would cross the whole."""
        if self._outbox.greeted(view.peer):
            window = view.window
            run = view.ready or self._decisions.may_run(window)
            window.asks = not run
            message = self._message(window, content, {}, run)
            self._outbox.send(
                view.peer, structs.replace(message, view_id=view.id, revision=view.revision, rev=view.state_sent)
            )

    def _message(self, window: Window, content: Content | None, state: dict[str, Json], run: bool) -> WindowContent:
        return WindowContent(
            window.id,
            window.revision,
            content,
            state=dict(state),
            rev=window.state.rev,
            granted=self._decisions.granted(window),
            run="run" if run else "ask",
        )

    def _take_over(self, window: Window, revision: int, *, keep: bool) -> None:
        window.revision = revision
        if not keep:
            window.log.clear()
            window.granted = {}
            window.refused.clear()
            window.known_files.clear()
        window.away.clear()
        window.noted.clear()
        window.console.clear()
        window.pin = window.answered_by = None
        for view in window.views.values():
            self.end_document(view, "the window's content was replaced")

    def _begin(self, window: Window, state: dict[str, Json]) -> None:
        """Another applet: the state it was saved with, or none."""
        window.began = window.revision
        window.state.clear()
        window.state.merge({key: v for key, v in state.items() if key not in (SNAPSHOT_KEY, COMMANDS_KEY)})
        self._begin_log(window, state)

    def _begin_log(self, window: Window, state: dict[str, Json]) -> None:
        snapshot, commands = state.get(SNAPSHOT_KEY), state.get(COMMANDS_KEY)
        if isinstance(snapshot, dict):
            window.log.take_snapshot(snapshot, 0)
        for item in commands if isinstance(commands, list) else []:
            if isinstance(item, dict) and isinstance(item.get("command"), str):
                ask = CommandAsk(item["command"], item.get("params", msgspec.UNSET))
                window.log.record(window.next_seq(), ask, None, ("", 0))

    def _adopt(self, window: Window, state: ViewState) -> None:
        """A page has the state that a host before this one had."""
        shown = self._fill(window, state.state or {})
        if shown:
            self._outbox.tell_kernels(window.session, StateChanged(window.id, shown, window.state.rev))

    def _complete(self, window: Window, state: dict[str, Json]) -> None:
        """A kernel has what a window began with that came from a page."""
        self._fill(window, state)
        if not window.log.entries and window.log.snapshot is None:
            self._begin_log(window, state)
        for view in window.views.values():
            self._updates.send(view)

    def _fill(self, window: Window, state: dict[str, Json]) -> dict[str, Json]:
        """Take over the keys that are missing here; gives those of them that may be told."""
        known = (*window.state.values, SNAPSHOT_KEY, COMMANDS_KEY)
        missing = {key: value for key, value in state.items() if key not in known}
        try:
            window.state.merge(missing)
        except TooLarge as e:
            self._outbox.note(window, "error", f"What was set before could not be taken over. {e.message}")
            return {}
        return {key: value for key, value in missing.items() if key not in RESERVED}


def _streaming(window: Window) -> Content | None:
    """What a view needs that comes while a content is streaming: all of it so far."""
    return window.content if window.content is not None and window.content.streaming else None
