"""One applet's folder: what is in it, and a change of several files that happens whole or not at all.

A change is written to temporary files first, then into a list of renames, `.saving`, and then done. Who finds the list
after a crash finishes it, so a folder holds the applet as it was or as it was to be, never half of each.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from ..errors import BrokenApplet, FileMissing, PathRefused
from ..workspace import atomic
from ..workspace.beneath import make_folder, open_file, open_folder
from ..workspace.paths import SENSITIVE, Parts, check_name, is_sensitive

HTML, JS, CSS, META, APP, STATE = "content.html", "script.js", "style.css", "meta.json", "app.json", "state.json"
CORE = (HTML, JS, CSS, META, APP, STATE)
_CORE = frozenset(CORE)

MAX_CORE_BYTES = 32 * 1024 * 1024
MAX_FILES = 500
MAX_FILES_BYTES = 8 * 1024 * 1024
_MAX_DEPTH = 16

_SAVING = ".saving"
_STALE = 60.0
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]
"""Each file's path, time, size and inode: what changes when the folder does."""
Keep: TypeAlias = Callable[[int, Parts, os.stat_result], object]


class _Plan(msgspec.Struct):
    renames: dict[str, str]
    removals: list[str]


class Change(NamedTuple):
    """Files to be written, in this order, and files to go (None)."""

    files: Mapping[str, bytes | None]
    before: Mapping[str, bytes]
    """What they held, to go back to when the change fails on its way."""


def scan(folder: int, sensitive: tuple[str, ...] = SENSITIVE) -> Signature:
    """The plain files of the folder and below; hidden ones, links and what no applet may hold are not seen."""
    found = sorted(_walk(folder, "", sensitive))
    check_sizes({path: size for path, _, size, _ in found})
    return tuple(found)


def check_sizes(sizes: Mapping[str, int]) -> None:
    if max(sizes.values(), default=0) <= MAX_CORE_BYTES and sizes.keys() <= _CORE:
        return
    others = [size for path, size in sizes.items() if path not in CORE]
    if len(others) > MAX_FILES:
        raise BrokenApplet(f"it has more than {MAX_FILES} files: move what is no part of it out of its folder.")
    if sum(others) > MAX_FILES_BYTES:
        raise BrokenApplet(f"its files have more than {MAX_FILES_BYTES // 2**20} MiB: move data out of its folder.")
    for path in CORE:
        if sizes.get(path, 0) > MAX_CORE_BYTES:
            raise BrokenApplet(f"{path} has more than {MAX_CORE_BYTES // 2**20} MiB.")


def version_of(signature: Signature) -> str:
    return hashlib.blake2s(repr(signature).encode(), digest_size=12).hexdigest()


def read(folder: int, signature: Signature, only: tuple[str, ...] | None = None) -> dict[str, bytes]:
    """The bytes of the files that were seen. One that went meanwhile is left out."""
    found = {}
    for path, _, size, _ in signature:
        if only is None or path in only:
            with contextlib.suppress(FileMissing):
                found[path] = _bytes(folder, path, size)
    return found


@contextlib.contextmanager
def locked(folder: int, *, alone: bool) -> Iterator[None]:
    """Hold off others, in this process or not: all of them, or those who write. A cut-off change is finished first."""
    _flock(folder, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    try:
        if _exists(folder, _SAVING):
            _flock(folder, fcntl.LOCK_EX)
            try:
                _finish(folder)
            except BrokenApplet:
                if not alone:
                    raise
                # Who is about to save again need not know of it.
                os.unlink(_SAVING, dir_fd=folder)
        yield
    finally:
        _flock(folder, fcntl.LOCK_UN)


def apply(folder: int, change: Change, keep: Keep | None = None) -> None:
    """Make the change, under the lock. `keep` is told of each file about to be replaced or removed."""
    _sweep(folder)
    plan = _Plan({}, [path for path, data in change.files.items() if data is None])
    try:
        for path, data in change.files.items():
            if data is not None:
                mode = _mode(folder, path)
                plan.renames[temporary := atomic.temporary_name()] = path
                atomic.fill(folder, temporary, data, mode)
        atomic.replace(folder, (_SAVING,), msgspec.json.encode(plan))
    except BaseException:
        _discard(folder, plan)
        raise
    done: list[str] = []
    try:
        _carry_out(folder, plan, done, keep)
    except BaseException:
        _go_back(folder, plan, change, done)
        raise
    os.unlink(_SAVING, dir_fd=folder)
    os.fsync(folder)


def _walk(folder: int, above: str, sensitive: tuple[str, ...], count: int = 0) -> Iterator[tuple[str, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                continue
            # Most names are ours, and a list looks at thousands.
            if entry.name not in _CORE and (entry.name.startswith(".") or not _is_plain(entry.name, sensitive)):
                continue
            path = f"{above}{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if path.count("/") >= _MAX_DEPTH:
                        raise BrokenApplet(f"its folders are more than {_MAX_DEPTH} deep.")
                    below = os.open(entry.name, _DIRECTORY, dir_fd=folder)
                    try:
                        for file in _walk(below, f"{path}/", sensitive, count):
                            count += 1
                            yield file
                    finally:
                        os.close(below)
                elif entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    count += path not in CORE
                    yield path, status.st_mtime_ns, status.st_size, status.st_ino
            except FileNotFoundError:
                continue
            if count > MAX_FILES:  # seen to be too many: no need to count them all
                return


def _is_plain(name: str, sensitive: tuple[str, ...]) -> bool:
    try:
        check_name(name)
    except PathRefused:
        return False
    return not is_sensitive(name, sensitive)


def _bytes(folder: int, path: str, size: int) -> bytes:
    descriptor = open_file(folder, tuple(path.split("/")))
    with os.fdopen(descriptor, "rb") as file:
        # It may be growing; the scan has decided how much is right.
        return file.read(max(size, MAX_CORE_BYTES if path in CORE else MAX_FILES_BYTES))


def _flock(folder: int, how: int) -> None:
    # Some network file systems have no locks: there, one process at a time is the user's to see to.
    with contextlib.suppress(OSError):
        fcntl.flock(folder, how)


def _exists(folder: int, name: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _mode(folder: int, path: str) -> int | None:
    """Of the file that is to be replaced; the folder it will stand in is made."""
    parts = tuple(path.split("/"))
    place = make_folder(folder, parts[:-1])
    try:
        return atomic.mode_of(place, parts)
    finally:
        os.close(place)


def _carry_out(folder: int, plan: _Plan, done: list[str], keep: Keep | None = None, *, again: bool = False) -> None:
    """In the order of the plan. The second time, what is not there any more was done the first time."""
    missing = contextlib.suppress(FileNotFoundError) if again else contextlib.nullcontext()
    for path in plan.removals:
        with missing, _place(folder, path) as (place, parts):
            found = atomic.stat_of(place, parts)
            if keep is not None and found is not None:
                keep(place, parts, found)
            done.append(path)
            os.unlink(parts[-1], dir_fd=place)
    for temporary, path in plan.renames.items():
        with missing, _place(folder, path) as (place, parts):
            found = atomic.stat_of(place, parts)
            if keep is not None and found is not None:
                keep(place, parts, found)
            os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=place)
            done.append(path)
            if len(parts) > 1:
                os.fsync(place)


@contextlib.contextmanager
def _place(folder: int, path: str) -> Iterator[tuple[int, Parts]]:
    parts = tuple(path.split("/"))
    place = open_folder(folder, parts[:-1])
    try:
        yield place, parts
    finally:
        os.close(place)


def _finish(folder: int) -> None:
    try:
        data = _bytes(folder, _SAVING, MAX_CORE_BYTES)
        plan = msgspec.json.decode(data, type=_Plan)
        for path in (*plan.renames.values(), *plan.removals):
            for name in path.split("/"):
                check_name(name)
        if not all(map(atomic.TEMPORARY.fullmatch, plan.renames)):
            raise PathRefused("A plan renames our own temporary files only.")
        _carry_out(folder, plan, [], again=True)
        os.unlink(_SAVING, dir_fd=folder)
        os.fsync(folder)
    except FileMissing:  # another process finished it while this one waited for the lock
        return
    except (OSError, PathRefused, msgspec.MsgspecError) as e:
        raise BrokenApplet(f"its last save was cut off and cannot be finished ({e}): save it again.") from None


def _go_back(folder: int, plan: _Plan, change: Change, done: list[str]) -> None:
    with contextlib.suppress(OSError):
        for path in done:
            with _place(folder, path) as (place, parts):
                if path in change.before:
                    atomic.replace(place, parts, change.before[path])
                else:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(parts[-1], dir_fd=place)
    _discard(folder, plan)


def _discard(folder: int, plan: _Plan) -> None:
    for name in (_SAVING, *plan.renames):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _sweep(folder: int) -> None:
    """Remove temporary files that a crash left behind."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if atomic.TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE:
                        os.unlink(entry.name, dir_fd=folder)
