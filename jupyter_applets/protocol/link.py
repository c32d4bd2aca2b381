"""What kernels and pages say to a host, and a host to them, around the seeds' own messages.

A peer opens with `Hello` and gets `Welcome` or an `ErrorReply` that names the side to upgrade. A kernel makes a
`Call`, and gets one `Result` or one `ErrorReply` with its id. A page announces its views, and the host mirrors
content to them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .app import (
    AppManifest,
    AppProtocolReady,
    AppProtocolRequest,
    AppProtocolResponse,
    Level,
)
from .base import Data, Json, Message
from .channel import (
    FileChanged,
    FileContent,
    FileList,
    FileWritten,
    ListFiles,
    Permit,
    ReadFile,
    Revoke,
    SetState,
    StateSeen,
    StateUpdate,
    Subscribe,
    Unsubscribe,
    WriteFile,
)
from .sessions import FromAgent, FromChat, ToAgent, ToChat

Renderer: TypeAlias = Literal["iframe", "tree", "mcp-app"]


class AppletFile(Data, frozen=True):
    """A file that comes with an applet: as text, or, when it is none, as base64."""

    text: str | None = None
    base64: str | None = None


class Content(Data, frozen=True):
    """What a window shows. `appProtocol` false means that the applet did not opt in to queries and commands.

    `modules` are sources by the name that `import` uses, or `applet:/…` for one of `files`, which are by their path in
    the applet's folder. `streaming` means that more of the HTML is to come, and that no script runs before.
    """

    html: str = ""
    js: str = ""
    css: str = ""
    title: str = ""
    permissions: dict[str, Json] = {}
    modules: dict[str, str] = {}
    height: int | str | None = None
    app_protocol: bool = True
    slug: str = ""
    files: dict[str, AppletFile] = {}
    streaming: bool = False


class ViewState(Data, frozen=True):
    """One iframe as its page knows it; repeated in `Hello` after a cut, so that nothing is mounted or replayed again.

    `revision` is that of the content it shows. `document` counts the loads of the frame. `settled` says that a host has
    had this document before: it is as it should be, and is not to be restored.
    """

    view_id: str
    window_id: str
    revision: int = 0
    document: int = 0
    ready: bool = False
    settled: bool = False
    manifest: AppManifest | None = None
    hydrates: bool = False
    snapshot: dict[str, Json] | None = None
    title: str = ""
    state: dict[str, Json] | None = None
    """The window's state as this page has it, for a host that has lost it."""


# ---- both ways


class Hello(Message, frozen=True, tag="hello"):
    """The first message of a peer. `id` is the kernel's id or one made by the page, the same after a reconnect."""

    protocol: int
    version: str
    role: Literal["kernel", "page"]
    session: str
    id: str
    views: list[ViewState] = []


class Welcome(Message, frozen=True, tag="welcome"):
    protocol: int
    version: str
    host_id: str
    max_message_bytes: int


class ErrorReply(Message, frozen=True, tag="error"):
    """With `id`, the one reply to that call; without, what was wrong with a message that asked nothing."""

    code: str
    message: str
    id: str | None = None
    names: list[str] = []


# ---- kernel → host


class Call(Message, frozen=True, tag="call"):
    """A tool by name. `timeoutMs` is the caller's deadline, and the only one. `turn` is that of the agent who calls."""

    id: str
    name: str
    arguments: dict[str, Json] = {}
    timeout_ms: float | None = None
    turn: str | None = None


class Cancel(Message, frozen=True, tag="cancel"):
    id: str


# ---- host → kernel


class Result(Message, frozen=True, tag="result"):
    """`note` tells the caller what it should know of how the answer came about (another view answered)."""

    id: str
    value: Json = None
    note: str | None = None


class WindowReady(Message, frozen=True, tag="windowReady"):
    window_id: str
    manifest: AppManifest | None = None


class WindowClosed(Message, frozen=True, tag="windowClosed"):
    window_id: str


class StateChanged(Message, frozen=True, tag="stateChanged"):
    """The keys of a window's state that changed."""

    window_id: str
    data: dict[str, Json]
    rev: int


# ---- page → host


class ViewOpened(Message, frozen=True, tag="viewOpened"):
    view: ViewState


class ViewClosed(Message, frozen=True, tag="viewClosed"):
    view_id: str


class Snapshot(Message, frozen=True, tag="snapshot"):
    window_id: str
    view_id: str
    state: dict[str, Json]


class WatchWindows(Message, frozen=True, tag="watchWindows"):
    """A desk of this page shows the session's windows: tell which there are, now and whenever that changes."""

    watch: bool = True


class Activate(Message, frozen=True, tag="activate"):
    """A person turned to this window: it is what a call without a window means."""

    window_id: str


class CloseWindow(Message, frozen=True, tag="closeWindow"):
    window_id: str


class ConsoleEntry(Data, frozen=True, omit_defaults=False):
    level: Level
    args: list[str]
    timestamp: float


# ---- page → host → kernel


class Interaction(Message, frozen=True, tag="interaction"):
    window_id: str
    content: str


class ConsoleLines(Message, frozen=True, tag="console"):
    """`dropped` counts what an applet logged too fast to be carried."""

    window_id: str
    entries: list[ConsoleEntry]
    dropped: int = 0


# ---- host → page


class WindowContent(Message, frozen=True, tag="windowContent"):
    """What a window shows, for one view (`viewId`), which waits for it before it loads, or for all.

    Without `content` the view has the right one. `run` is `ask` while a person has yet to let the code run. `granted`
    is what people have allowed beyond the content's own permissions; false stands for a no. A page that has taken `rev`
    says so by `stateSeen`.
    """

    window_id: str
    revision: int
    content: Content | None = None
    view_id: str | None = None
    state: dict[str, Json] = {}
    rev: int = 0
    granted: dict[str, Json] = {}
    run: Literal["run", "ask"] = "run"


class ContentChunk(Message, frozen=True, tag="contentChunk"):
    """More of the HTML of a content that is `streaming`; `at` is how many characters came before."""

    window_id: str
    revision: int
    at: int
    html: str


class WindowInfo(Data, frozen=True, omit_defaults=False):
    window_id: str
    title: str
    renderer: Renderer
    slug: str
    revision: int
    ready: bool
    shown: bool
    """Whether any view shows it; one that none shows cannot answer, so a desk loads it out of sight."""


class WindowList(Message, frozen=True, tag="windows"):
    """The windows of a session, for a desk; `active` is to be in front."""

    windows: list[WindowInfo]
    active: str | None = None


FromKernel: TypeAlias = Hello | Call | Cancel | FromAgent
ToKernel: TypeAlias = (
    Welcome
    | ErrorReply
    | Result
    | WindowReady
    | WindowClosed
    | Interaction
    | ConsoleLines
    | StateChanged
    | WindowContent
    | ToAgent
)
FromPage: TypeAlias = (
    Hello
    | ViewOpened
    | ViewClosed
    | AppProtocolReady
    | AppProtocolResponse
    | Snapshot
    | Interaction
    | ConsoleLines
    | WatchWindows
    | Activate
    | CloseWindow
    | SetState
    | StateSeen
    | ReadFile
    | WriteFile
    | ListFiles
    | Subscribe
    | Unsubscribe
    | Permit
    | Revoke
    | FromChat
)
ToPage: TypeAlias = (
    Welcome
    | ErrorReply
    | Result
    | AppProtocolRequest
    | WindowContent
    | ContentChunk
    | WindowClosed
    | WindowList
    | StateUpdate
    | FileContent
    | FileWritten
    | FileList
    | FileChanged
    | ToChat
)
