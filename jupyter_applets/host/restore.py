"""Brings a document to where its window is: hydrate from the snapshot, replay commands, one awaited step at a time.

New requests are let in only when the last step was answered. Views beside the one that answers get each recorded
command as such a step too.
"""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.app import Answer, AppManifest, Ask, CommandAsk, HydrateAsk
from ..protocol.base import COMMAND_TIMEOUT
from .outbox import Outbox
from .replay import Entry
from .requests import Request, Requests
from .windows import View, Window


class Restorer:
    """Runs the steps of every view; calls `opened(window)` when a view has no more."""

    def __init__(self, outbox: Outbox, requests: Requests, opened: Callable[[Window], None]) -> None:
        self._outbox = outbox
        self._requests = requests
        self._opened = opened

    def ready(self, view: View) -> None:
        """A document has registered. One that ran through a cut connection gets only what it missed.

        A step that was under way when the connection was cut counts as done: nothing is done twice.
        """
        log = view.window.log
        view.ready = True
        view.steps.clear()
        away = view.window.away.pop(view.id, None)
        if away is not None and away.document == view.document:
            view.seq = away.seq
            view.steps.extend((*away.steps, *log.since(away.recorded, view.copy)))
        else:
            view.steps.extend(log.steps(view.hydrates))
        self._next(view)

    def mirror(self, entry: Entry, window: Window) -> None:
        """A command has run in one view: the others of the window get it as replay."""
        for view in window.views.values():
            if view.ready and view.copy != entry.ran_on:
                view.steps.append(entry)
                self._next(view)

    def stop(self, view: View) -> None:
        """The document is gone, and what was still to be done to it."""
        view.steps.clear()
        if view.step is not None:
            request = self._requests.get(view.step)
            view.step = None
            if request is not None:
                self._requests.pop(request)

    def answered(self, view: View, request: Request, answer: Answer | None) -> None:
        """A step was answered, or (None) was not in time."""
        self._requests.pop(request)
        view.step = None
        view.seq = max(view.seq, request.seq)
        error = "no answer in time" if answer is None else answer.error
        if isinstance(error, str):
            what = f"The replay of {request.ask.command!r}" if isinstance(request.ask, CommandAsk) else "hydrate"
            self._outbox.note(view.window, "error", f"{what} failed after a reload: {error}")
            if isinstance(request.ask, HydrateAsk):
                view.seq = 0
                view.steps = type(view.steps)(view.window.log.steps(hydrates=False))
        self._next(view)

    def _next(self, view: View) -> None:
        while view.steps and view.step is None:
            step = view.steps.popleft()
            if isinstance(step, Entry) and _is_wanted(view.manifest, step.command):
                self._take(view, CommandAsk(step.command, step.params, replayed=True), step.seq)
            elif isinstance(step, HydrateAsk):
                snapshot = view.window.log.snapshot
                self._take(view, step, snapshot.seq if snapshot is not None else 0)
        if view.open:
            self._opened(view.window)

    def _take(self, view: View, ask: Ask, seq: int) -> None:
        deadline = self._outbox.now + COMMAND_TIMEOUT
        request = Request(
            self._requests.new_id("replay"), view.window, ask, None, deadline, deadline, view, view.copy, seq
        )
        view.step = request.id
        self._requests.add(request)
        self._outbox.send_request(request, view)


def _is_wanted(manifest: AppManifest | None, command: str) -> bool:
    """The policy of the registration that just came up decides, not that of the one that ran the command."""
    return manifest is None or (command in manifest.commands and manifest.replay_of(command) != "never")
