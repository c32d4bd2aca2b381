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

Renderer: TypeAlias = Literal["iframe", "tree", "mcp-app"]


class Content(Data, frozen=True):
    """What a window shows. `appProtocol` false means that the applet did not opt in to queries and commands."""

    html: str = ""
    js: str = ""
    css: str = ""
    title: str = ""
    permissions: dict[str, Json] = {}
    modules: dict[str, str] = {}
    height: int | str | None = None
    app_protocol: bool = True


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
    """A tool by name. `timeoutMs` is the caller's deadline, and the only one."""

    id: str
    name: str
    arguments: dict[str, Json] = {}
    timeout_ms: float | None = None


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


# ---- page → host


class ViewOpened(Message, frozen=True, tag="viewOpened"):
    view: ViewState


class ViewClosed(Message, frozen=True, tag="viewClosed"):
    view_id: str


class Snapshot(Message, frozen=True, tag="snapshot"):
    window_id: str
    view_id: str
    state: dict[str, Json]


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
    """The view shows an older revision than the host has: show this one."""

    window_id: str
    revision: int
    content: Content


FromKernel: TypeAlias = Hello | Call | Cancel
ToKernel: TypeAlias = Welcome | ErrorReply | Result | WindowReady | WindowClosed | Interaction | ConsoleLines
FromPage: TypeAlias = (
    Hello | ViewOpened | ViewClosed | AppProtocolReady | AppProtocolResponse | Snapshot | Interaction | ConsoleLines
)
ToPage: TypeAlias = Welcome | ErrorReply | AppProtocolRequest | WindowContent | WindowClosed
