"""Windows and their views: who shows what, which view answers for a window, and what it takes to restore one.

This is the seed's WindowStateRegistry: `View.ready` is its `appProtocol`, `Window.log` its `appCommands`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import AmbiguousWindow, NotAnApplet, NotOptedIn, WindowNotFound
from ..protocol.app import AppManifest
from ..protocol.base import Json
from ..protocol.link import ConsoleEntry, Content, Renderer
from .replay import CommandLog, Step
from .state import WindowState

CONSOLE_LINES = 200
MAX_AWAY = 100


@dataclass(eq=False)
class View:
    """One iframe that shows a window. `document` counts its loads; `steps` is what is still to be replayed into it."""

    id: str
    peer: str
    window: Window
    revision: int = 0
    document: int = 0
    ready: bool = False
    manifest: AppManifest | None = None
    hydrates: bool = False
    seq: int = 0
    """The newest request that this document has answered. What it says later knows of all up to this one."""
    steps: deque[Step] = field(default_factory=deque)
    step: str | None = None
    """The request of the step under way."""
    state_sent: int = 0
    """The number of the window's state up to which it was told, and up to which it has said that it knows."""
    state_seen: int = 0

    @property
    def open(self) -> bool:
        """Ready for new requests: registered, and as far as the other views are."""
        return self.ready and not self.steps and self.step is None

    @property
    def copy(self) -> tuple[str, int]:
        return (self.id, self.document)


class Away(NamedTuple):
    """A document out of reach: where it stood in the log, and what was still to be done to it."""

    document: int
    recorded: int
    """The log's index then."""
    seq: int
    steps: tuple[Step, ...]


@dataclass(eq=False)
class Window:
    """One running applet. The host owns its content and command log; views show it, one of them (`pin`) answers."""

    session: str
    id: str
    renderer: Renderer = "iframe"
    revision: int = 0
    content: Content | None = None
    title: str = ""
    views: dict[str, View] = field(default_factory=dict)
    pin: View | None = None
    answered_by: str | None = None
    log: CommandLog = field(default_factory=CommandLog)
    console: deque[ConsoleEntry] = field(default_factory=lambda: deque(maxlen=CONSOLE_LINES))
    seq: int = 0
    away: dict[str, Away] = field(default_factory=dict)
    """The views whose pages were cut off, as they were then; they may come back."""
    idle_since: float | None = None
    noted: set[str] = field(default_factory=set)
    """What its author was told already. Cleared with the content, so bounded by its manifest."""
    state: WindowState = field(default_factory=WindowState)
    began: int = 0
    """The revision with which the state began: what an applet before it set is not for this one."""
    vouched: bool = False
    """The content came from a kernel of the user's, so its code may run."""
    asks: bool = False
    """A page waits for a person to let it run."""
    granted: dict[str, Json] = field(default_factory=dict)
    """What a person allowed it while only a page knows what it shows."""
    refused: set[str] = field(default_factory=set)
    """The permissions that a person said no to."""
    known_files: set[str] = field(default_factory=set)
    """The files that its applet has read or written, which it may replace without asking."""

    @property
    def slug(self) -> str:
        return self.content.slug if self.content is not None else ""

    @property
    def manifest(self) -> AppManifest | None:
        if self.pin is not None:
            return self.pin.manifest
        return next((view.manifest for view in self.views.values() if view.manifest), None)

    def answering(self) -> View | None:
        """The view that answers now; None while there is none, or while it is being restored."""
        if self.pin is None:
            self.pin = next((view for view in self.views.values() if view.open), None)
        return self.pin if self.pin is not None and self.pin.open else None

    def leave(self, view: View) -> None:
        """The view's page is cut off; its document may go on, and come back."""
        self.views.pop(view.id, None)
        if view.ready:
            self.away[view.id] = Away(view.document, self.log.index, view.seq, tuple(view.steps))
            while len(self.away) > MAX_AWAY:
                del self.away[next(iter(self.away))]

    def next_seq(self) -> int:
        self.seq += 1
        return self.seq

    def require_iframe(self) -> None:
        if self.renderer != "iframe":
            raise NotAnApplet(
                f"Window {self.id!r} is shown by the {self.renderer!r} renderer, which has no app protocol: "
                "queries and commands go to windows that an Applet shows."
            )

    def require_applet(self) -> None:
        """Raise at once where waiting would not help."""
        self.require_iframe()
        if self.content is not None and not self.content.app_protocol:
            raise NotOptedIn(
                f"The applet in window {self.id!r} has not opted in to the app protocol: "
                'set "appProtocol": true in its app.json and call window.yaar.app.register(…) in its script.'
            )


class Windows:
    """Every window of a host, by session and id."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, str], Window] = {}

    def __iter__(self) -> Iterator[Window]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def get(self, session: str, window_id: str) -> Window | None:
        return self._all.get((session, window_id))

    def open(self, session: str, window_id: str) -> Window:
        """The window, made if it is not there."""
        return self._all.setdefault((session, window_id), Window(session, window_id))

    def forget(self, window: Window) -> None:
        self._all.pop((window.session, window.id), None)

    def find(self, window_id: str, *, session: str | None = None, home: str | None = None) -> Window:
        """The window that a caller means: in the session it names, else in its own, else the only one of that id."""
        if session is not None or (home is not None and (home, window_id) in self._all):
            found = [w for w in [self.get(session if session is not None else home or "", window_id)] if w]
        else:
            found = [w for w in self if w.id == window_id]
        if len(found) == 1:
            return found[0]
        if found:
            sessions = sorted(w.session for w in found)
            raise AmbiguousWindow(
                f"Window {window_id!r} is open in several sessions: {', '.join(sessions)}. Name one with `session`.",
                sessions,
            )
        names = sorted(w.id for w in self if session is None or w.session == session)
        where = f" in session {session!r}" if session is not None else ""
        listing = f"Open windows: {', '.join(names)}." if names else "No window is open."
        raise WindowNotFound(f"There is no window {window_id!r}{where}. {listing}", names)

    def view(self, view_id: str) -> View | None:
        return next((w.views[view_id] for w in self if view_id in w.views), None)
