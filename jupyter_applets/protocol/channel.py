"""The applet channel (seed 001): state both ways, and files, over a page's socket.

The seed's shapes stand as they are: a plain client sends no `id` and no `windowId`, means its session's active window,
and gets no more than the seed's fields back. Ours add both, `consent` where a person has just agreed in the page, and
the `revision` of the content that asks: one that was replaced has no more to ask for.
With an `id`, `setState`, `subscribe`, `unsubscribe`, `permit` and `revoke` are answered by a `result`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .base import Data, Json, Message

Encoding: TypeAlias = Literal["utf-8", "base64"]

STORAGE_KEY = "__storage"
SNAPSHOT_KEY = "__snapshot"
COMMANDS_KEY = "__commands"
RESERVED = (STORAGE_KEY, SNAPSHOT_KEY, COMMANDS_KEY)
"""State keys that are no one's to see: the applet's localStorage, and, where the state is kept, what restores it."""

MAX_STATE_BYTES = 8 * 1024 * 1024
"""How large a window's whole state may be as JSON."""


# ---- page → host: state


class SetState(Message, frozen=True, tag="setState"):
    """Merge `data` into the window's state. `revision` is that of the content that set it: what an applet set while
    another took the window is not the other's. With an `id` it is acknowledged by a `result`."""

    data: dict[str, Json]
    window_id: str | None = None
    view_id: str | None = None
    revision: int | None = None
    id: str | None = None


class StateSeen(Message, frozen=True, tag="stateSeen"):
    """The applet has taken the update of that number; the next may come. What changed meanwhile comes as one."""

    window_id: str
    view_id: str
    rev: int


# ---- page → host: files


class ReadFile(Message, frozen=True, tag="readFile"):
    path: str
    id: str | None = None
    window_id: str | None = None
    consent: bool = False
    revision: int | None = None


class WriteFile(Message, frozen=True, tag="writeFile"):
    """`ifMatch` is the version that may be replaced."""

    path: str
    content: str
    encoding: Encoding | None = None
    if_match: str | None = None
    id: str | None = None
    window_id: str | None = None
    consent: bool = False
    revision: int | None = None


class ListFiles(Message, frozen=True, tag="listFiles"):
    path: str = ""
    id: str | None = None
    window_id: str | None = None
    consent: bool = False
    revision: int | None = None


class Subscribe(Message, frozen=True, tag="subscribe"):
    """Be told when the file, or, of a folder, one directly in it, changes."""

    path: str
    id: str | None = None
    window_id: str | None = None
    consent: bool = False
    revision: int | None = None


class Unsubscribe(Message, frozen=True, tag="unsubscribe"):
    path: str
    id: str | None = None
    window_id: str | None = None


# ---- page → host: what a person decided


class Permit(Message, frozen=True, tag="permit"):
    """A person decided, for good or until it is taken back: `value` is as in `permissions`, or false for no.

    The permission `run` lets the applet's code run at all.
    """

    window_id: str
    permission: str
    value: Json
    id: str | None = None


class Revoke(Message, frozen=True, tag="revoke"):
    """Take a decision back; without `permission`, all of them."""

    window_id: str
    permission: str | None = None
    id: str | None = None


# ---- host → page


class StateUpdate(Message, frozen=True, tag="stateUpdate"):
    """What was pushed: the keys that changed."""

    data: dict[str, Json]
    window_id: str | None = None
    view_id: str | None = None
    rev: int = 0


class FileContent(Message, frozen=True, tag="fileContent"):
    """One piece of a file, the last one `done`. Bytes that are no text come as base64, each piece whole by itself."""

    path: str
    chunk: str
    done: bool
    encoding: Encoding | None = None
    version: str | None = None
    id: str | None = None
    window_id: str | None = None


class FileWritten(Message, frozen=True, tag="fileWritten"):
    path: str
    version: str
    id: str | None = None
    window_id: str | None = None


class FileEntry(Data, frozen=True, omit_defaults=False):
    name: str
    type: Literal["file", "directory"]
    size: int
    modified: str


class FileList(Message, frozen=True, tag="fileList", omit_defaults=True):
    path: str
    files: list[FileEntry]
    id: str | None = None
    window_id: str | None = None


class FileChanged(Message, frozen=True, tag="fileChanged"):
    path: str
    event: Literal["created", "modified", "deleted"]
    window_id: str | None = None
