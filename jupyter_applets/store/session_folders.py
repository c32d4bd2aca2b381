"""The folders of sessions, and the session.json in each: the session's id, and what it was made from."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from datetime import datetime, timezone

import msgspec

from ..errors import FileMissing, PathRefused
from ..workspace.atomic import TEMPORARY, temporary_name
from ..workspace.audit import stamp
from ..workspace.beneath import make_folder, open_folder
from ..workspace.files import Workspace
from . import journal, private
from .documents import encode
from .session_names import quote, unquote

FOLDER, INFO = "sessions", "session.json"


class SessionInfo(msgspec.Struct, rename="camel", omit_defaults=True):
    """What session.json says, and when something was last said."""

    id: str
    created: str = ""
    updated: str = ""
    parent: str | None = None
    ephemeral: bool = False

    @property
    def made(self) -> bool:
        return self.ephemeral


class SessionFolders:
    """Opens them. Nothing is made by looking, and below the private folder no link is followed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @contextlib.contextmanager
    def opened(self, session: str) -> Iterator[int | None]:
        """The session's folder, if there is one."""
        folder = self._open(session)
        try:
            yield folder
        finally:
            if folder is not None:
                os.close(folder)

    @contextlib.contextmanager
    def made(self, session: str, info: SessionInfo | None = None) -> Iterator[int]:
        """The session's folder, made where it is missing. It says whose it is before anything else is in it."""
        folder = self._open(session)
        if folder is None:
            folder = self._make(session)
        try:
            if not _has(folder, INFO):
                made = info or SessionInfo(session, stamp(datetime.now(timezone.utc)))
                private.put(folder, INFO, encode(INFO, msgspec.to_builtins(made)))
            yield folder
        finally:
            os.close(folder)

    def all(self) -> list[SessionInfo]:
        found = []
        with self._top() as top:
            for name in _names(top):
                if name.startswith("."):
                    continue
                with contextlib.suppress(OSError, PathRefused):  # no folder, or gone meanwhile
                    folder = open_folder(top, (name,), private.no_link)
                    try:
                        info = info_of(folder, unquote(name), name)
                    finally:
                        os.close(folder)
                    if info is not None:
                        found.append(info)
        return found

    def remove(self, session: str) -> None:
        with self._top() as top, contextlib.suppress(FileNotFoundError):
            # Out of sight first, so that nobody meets half of it.
            away = temporary_name()
            os.rename(quote(session), away, src_dir_fd=top, dst_dir_fd=top)
            _remove(top, away)

    def sweep(self) -> None:
        """Remove what a removal that was cut off has left."""
        with self._top() as top:
            for name in _names(top):
                if TEMPORARY.fullmatch(name):
                    _remove(top, name)

    @contextlib.contextmanager
    def _top(self) -> Iterator[int]:
        """The folder of all sessions; -1 where there is none, as no call takes it for a folder."""
        try:
            folder = self._open_top()
        except FileMissing:
            folder = -1
        try:
            yield folder
        finally:
            if folder >= 0:
                os.close(folder)

    def _open_top(self) -> int:
        above = open_folder(self._workspace.descriptor, self._workspace.private)
        try:
            return open_folder(above, (FOLDER,), private.no_link)
        finally:
            os.close(above)

    def _open(self, session: str) -> int | None:
        name = quote(session)
        try:
            top = self._open_top()
            try:
                return open_folder(top, (name,), private.no_link)
            finally:
                os.close(top)
        except FileMissing:
            return None

    def _make(self, session: str) -> int:
        above = self._workspace.private_folder()
        try:
            return make_folder(above, (FOLDER, quote(session)), private.no_link, private.FOLDER_MODE)
        finally:
            os.close(above)


def info_of(folder: int, session: str | None, name: str) -> SessionInfo | None:
    """What an open folder says of its session; None where it is no session's."""
    data = private.read(folder, INFO)
    try:
        info = msgspec.json.decode(data or b"", type=SessionInfo)
        # A folder that was copied or renamed tells of another session.
        known = info if quote(info.id) == name else None
    except (ValueError, RecursionError):
        known = None
    if known is None and session is not None:
        known = SessionInfo(session)
    if known is None:
        return None
    known.updated = known.created
    try:
        said = os.stat(journal.FILE, dir_fd=folder, follow_symlinks=False).st_mtime
        known.updated = stamp(datetime.fromtimestamp(said, timezone.utc))
    except FileNotFoundError:
        return known if data is not None else None
    return known


def _has(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _names(top: int) -> list[str]:
    return os.listdir(top) if top >= 0 else []


def _remove(top: int, name: str) -> None:
    """A folder with all that is in it, perhaps beside another who removes it too; no link is followed."""
    # `shutil.rmtree` takes no descriptor before Python 3.11.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
        try:
            for inner in _names(folder):
                with contextlib.suppress(FileNotFoundError):
                    if stat.S_ISDIR(os.stat(inner, dir_fd=folder, follow_symlinks=False).st_mode):
                        _remove(folder, inner)
                    else:
                        os.unlink(inner, dir_fd=folder)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)
