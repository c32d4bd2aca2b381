"""Files of the workspace: the only way to them. Every verb decides, opens beneath the root, and is logged."""

from __future__ import annotations

import os
import stat
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from operator import attrgetter
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import FileMissing, FileTooLarge, PathRefused, VersionConflict
from . import atomic
from .audit import Actor, Audit
from .backups import Backups
from .beneath import make_folder, open_file, open_folder, open_root, real_parts, stat_beneath
from .failures import worded
from .paths import SENSITIVE, Parts, check_name, fold, is_sensitive, matcher, parse
from .reading import Reading, version_of

_LOCKS = 64
_CORE = {"meta.json", "app.json", "content.html", "script.js", "style.css", "state.json"}
"""The files of a saved applet that say what it is, shows and may do."""
_IGNORE_ALL = b"# Written by jupyter_applets: the audit log, backups and sessions are no part of a project.\n*\n"


class FileData(msgspec.Struct, frozen=True):
    path: str
    data: bytes
    version: str
    size: int


class Entry(msgspec.Struct, frozen=True, gc=False):
    name: str
    type: Literal["file", "directory"]
    size: int
    modified: str
    """ISO 8601, UTC, with milliseconds."""


class Operation:
    """One operation as the audit log will tell it."""

    size: int | None = None


class Workspace:
    """Owns the root's descriptor. Its methods block, and may be called from any thread."""

    def __init__(
        self,
        root: str | Path,
        *,
        sensitive: Iterable[str] = SENSITIVE,
        applets: str = "applets",
        private: str = ".jupyter-applets",
        max_bytes: int = 512 * 1024 * 1024,
        backups: bool = True,
    ) -> None:
        self._given = os.path.normpath(Path(root).absolute())
        self.root = os.path.realpath(root)
        self.descriptor = open_root(self.root)
        self._close = weakref.finalize(self, os.close, self.descriptor)
        self.sensitive = tuple(sensitive)
        self.applets = parse(applets, self.root)
        self.private = parse(private, self.root)
        if not self.applets or not self.private:
            raise PathRefused("The folders of applets and of private files stand below the root.")
        self.max_bytes = max_bytes
        self.audit = Audit(self.private_folder)
        self.backups = Backups(lambda *names: self.private_folder("backups", *names)) if backups else None
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def close(self) -> None:
        self.audit.close()
        self._close()

    # ── the verbs ────────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self, path: str, actor: Actor, *, limit: int | None = None) -> FileData:
        most = self.max_bytes if limit is None else limit
        with self.logged("read", path, actor) as operation, self._opened(path, actor) as reading:
            # It may grow while it is read; what comes past the limit is not taken.
            if reading.size > most:
                raise FileTooLarge(f"{path!r} has {reading.size:,} bytes; {most:,} can be read at once.")
            data = b"".join(reading.chunks())
            operation.size = len(data)
            return FileData(reading.path, data, reading.version, len(data))

    def open(self, path: str, actor: Actor) -> Reading:
        """For files that are not to be held whole; the caller closes what it gets."""
        with self.logged("read", path, actor) as operation:
            reading = self._opened(path, actor)
            if reading.size > self.max_bytes:
                reading.close()
                raise FileTooLarge(f"{path!r} has {reading.size:,} bytes; {self.max_bytes:,} can be read.")
            operation.size = reading.size
            return reading

    def write(self, path: str, data: bytes, actor: Actor, *, if_match: str | None = None) -> str:
        """The version that was written. With `if_match`, only that version (`*`: any) is replaced."""
        with self.logged("write", path, actor) as operation:
            parts = self.check(path, actor)
            if not parts:
                raise PathRefused("The workspace itself is not a file.")
            self._check_writable(parts, actor, path)
            if len(data) > self.max_bytes:
                raise FileTooLarge(f"A file may have {self.max_bytes:,} bytes; this one has {len(data):,}.")
            operation.size = len(data)
            reach = self.guard(path, actor)

            def guard(parts: Parts) -> None:
                reach(parts)
                self._check_writable(parts, actor, path)

            return self.put(parts, data, if_match=if_match, guard=guard)

    def list(self, path: str, actor: Actor) -> list[Entry]:
        with self.logged("list", path, actor), worded(f"list {path!r}"):
            parts = self.check(path, actor)
            guard = self.guard(path, actor)
            folder = open_folder(self.descriptor, parts, guard)
            try:
                return sorted(self._entries(folder, parts, actor), key=attrgetter("name"))
            finally:
                os.close(folder)

    def version(self, path: str, actor: Actor) -> str | None:
        """None when there is no such file."""
        parts = self.check(path, actor)
        try:
            with worded(f"look at {path!r}"):
                found = stat_beneath(self.descriptor, parts, self.guard(path, actor))
        except FileMissing:
            return None
        return version_of(found) if stat.S_ISREG(found.st_mode) else None

    def watchable(self, path: str, actor: Actor) -> str:
        """The name under which changes of `path` are told; who may not read it may not watch it."""
        with self.logged("watch", path, actor):
            return "/".join(self.check(path, actor))

    def check(self, path: str, actor: Actor) -> Parts:
        """What a path means to an actor, or PathRefused; no system call is made."""
        # The root may be known by the name of a link to it.
        inside = path == self._given or path.startswith(self._given.rstrip("/") + "/")
        parts = parse(path, self._given if inside else self.root, self.sensitive)
        self._reach(parts, actor, path)
        return parts

    # ── for the store and the watcher, which decide for themselves whom they serve ──────────────────────────────────

    def put(
        self,
        parts: Parts,
        data: bytes,
        *,
        if_match: str | None = None,
        guard: Callable[[Parts], None] | None = None,
        backup: bool = True,
    ) -> str:
        """Write a file whole, with the folders above it, keeping the version before."""
        shown = "/".join(parts)
        linked: list[Parts] = []

        def follow(real: Parts) -> None:
            linked.append(real)
            if guard is not None:
                guard(real)

        with worded(f"write {shown!r}"):
            folder = make_folder(self.descriptor, parts[:-1], follow)
            try:
                if linked and guard is not None:
                    guard((*real_parts(self.descriptor, folder, parts[:-1]), parts[-1]))
                mode = atomic.mode_of(folder, parts)
                with atomic.prepared(folder, data, mode) as (temporary, written), self.lock(folder, parts[-1]):
                    found = atomic.stat_of(folder, parts)
                    _check_version(shown, if_match, found)
                    self.keep_and_rename(folder, temporary, parts, found if backup else None)
                os.fsync(folder)
            finally:
                os.close(folder)
        return version_of(written)

    def keep_and_rename(self, folder: int, temporary: str, parts: Parts, found: os.stat_result | None) -> None:
        """Put a temporary file in its place. `found` is what stands there and is to be kept, if anything is."""
        undo = None
        if found is not None and self.backups is not None:
            undo = self.backups.keep(folder, parts, found)
        try:
            os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            if undo is not None:
                undo()
            raise

    def lock(self, folder: int, name: str) -> threading.Lock:
        """Held from the look at a file's version to its replacement; nothing else waits for it, reads least of all."""
        found = os.fstat(folder)
        return self._locks[hash((found.st_dev, found.st_ino, name)) % _LOCKS]

    def private_folder(self, *names: str) -> int:
        """A descriptor of a folder out of everyone's reach, made where it is missing; the caller closes it."""
        try:
            return open_folder(self.descriptor, (*self.private, *names))
        except FileMissing:
            top = make_folder(self.descriptor, self.private, mode=0o700)
        try:
            with suppress(FileExistsError):
                atomic.fill(top, ".gitignore", _IGNORE_ALL, 0o644)
            return make_folder(top, names, mode=0o700)
        finally:
            os.close(top)

    def guard(self, path: str, actor: Actor) -> Callable[[Parts], None]:
        """Refuses what a link inside the root leads to when the actor could not have named it."""

        def check(parts: Parts) -> None:
            if any(is_sensitive(name, self.sensitive) for name in parts):
                raise PathRefused(f"{path!r} is a link to what may hold secrets.")
            self._reach(parts, actor, path)

        return check

    @contextmanager
    def logged(self, verb: str, path: str, actor: Actor) -> Iterator[Operation]:
        operation = Operation()
        try:
            yield operation
        except BaseException as e:
            self.audit.record(actor, verb, path, error=e)
            raise
        self.audit.record(actor, verb, path, size=operation.size)

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _opened(self, path: str, actor: Actor) -> Reading:
        parts = self.check(path, actor)
        with worded(f"read {path!r}"):
            return Reading("/".join(parts), open_file(self.descriptor, parts, self.guard(path, actor)))

    def _reach(self, parts: Parts, actor: Actor, path: str) -> None:
        if any(fold(name) == fold(self.private[-1]) for name in parts):
            raise PathRefused(f"{path!r} is not open to applets: it holds the audit log, backups and sessions.")
        if actor.kind == "applet" and self._is_state_of_another(parts, actor):
            raise PathRefused(f"{path!r} is the state of another applet.")
        if actor.kind == "applet" and any(name.startswith(".") for name in self._in_applets(parts)):
            # A save leaves its plan there, which the next reader carries out.
            raise PathRefused(f"{path!r} is not open to applets: it is the store's own.")

    def _check_writable(self, parts: Parts, actor: Actor, path: str) -> None:
        """An applet that could write applets could give itself, or take from others, what a person allowed."""
        inside = self._in_applets(parts)
        if actor.kind != "applet" or not inside:
            return
        own = actor.slug != "" and inside[0] == actor.slug and len(inside) > 1
        if not own or (len(inside) == 2 and fold(inside[1]) in _CORE):
            raise PathRefused(f"{path!r} is part of an applet, or of the list of them: applets do not write these.")

    def _is_state_of_another(self, parts: Parts, actor: Actor) -> bool:
        inside = self._in_applets(parts)
        return len(inside) == 2 and fold(inside[1]) == "state.json" and inside[0] != actor.slug

    def _in_applets(self, parts: Parts) -> Parts:
        """The names below the folder of saved applets; none for what is elsewhere."""
        depth = len(self.applets)
        return parts[depth:] if [*map(fold, parts[:depth])] == [*map(fold, self.applets)] else ()

    def _entries(self, folder: int, parts: Parts, actor: Actor) -> Iterator[Entry]:
        # Ten thousand times: what is the same each time is looked up once.
        modified = _Moments().text
        private = fold(self.private[-1])
        sensitive = matcher(self.sensitive).match
        is_applet = actor.kind == "applet"
        with os.scandir(folder) as found:
            for entry in found:
                name = entry.name
                try:
                    check_name(name)
                    folded = fold(name)
                    if sensitive(folded) or folded == private or (name[0] == "." and atomic.TEMPORARY.fullmatch(name)):
                        continue
                    if is_applet and folded == "state.json" and self._is_state_of_another((*parts, name), actor):
                        continue
                    if entry.is_symlink():
                        inside = (*parts, name)
                        status = stat_beneath(self.descriptor, inside, self.guard("/".join(inside), actor))
                    else:
                        status = entry.stat(follow_symlinks=False)
                except (PathRefused, FileNotFoundError):
                    continue
                kind = stat.S_IFMT(status.st_mode)
                if kind == stat.S_IFREG:
                    yield Entry(name, "file", status.st_size, modified(status.st_mtime_ns))
                elif kind == stat.S_IFDIR:
                    yield Entry(name, "directory", status.st_size, modified(status.st_mtime_ns))


class _Moments:
    """Times as text. Files of one folder often share a second, and making its text is most of the work."""

    def __init__(self) -> None:
        self._seconds: dict[int, str] = {}

    def text(self, at: int) -> str:
        second, rest = divmod(at, 1_000_000_000)
        known = self._seconds.get(second)
        if known is None:
            try:
                known = datetime.fromtimestamp(second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
            except (ValueError, OverflowError, OSError):  # a time that no calendar has
                known = "1970-01-01T00:00:00"
            self._seconds[second] = known
        return f"{known}.{rest // 1_000_000:03d}Z"


def _check_version(shown: str, wanted: str | None, found: os.stat_result | None) -> None:
    if not wanted:
        return
    if found is None:
        raise VersionConflict(f"{shown!r} is not there any more.")
    if wanted != "*" and version_of(found) != wanted:
        raise VersionConflict(f"{shown!r} was changed by someone else: read it again before writing.")
