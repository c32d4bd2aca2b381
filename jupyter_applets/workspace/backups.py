"""The versions before: what a write replaces is kept in the private folder, the newest ten to twenty of each file.

Kept is a hard link to the old bytes, which costs as little as a rename; a copy only where the system refuses links.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone

from ..errors import FileMissing, PathRefused
from .beneath import open_folder
from .paths import Parts

PER_FILE = 10
MAX_BYTES = 256 * 1024 * 1024

_RESCAN = 256
_NAME = re.compile(r"\d{8}T\d{12}Z-\d+")
_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS}
_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
_log = logging.getLogger(__name__)


class Backups:
    """Owns the backups' folder, and the lock under which old ones go."""

    def __init__(self, folder: Callable[..., int], per_file: int = PER_FILE, max_bytes: int = MAX_BYTES) -> None:
        """`folder(*names)` opens a folder among the backups, making it where it is missing."""
        self._folder = folder
        self._per_file = per_file
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._sizes: dict[Parts, int] = {}
        """What is kept, oldest first: as of the last look at the disk, and what was added since."""
        self._names: dict[Parts, list[str]] = {}
        """The same by file, for the files that were written lately."""
        self._total = 0
        self._until_rescan = 0
        self._warned = False

    def keep(self, folder: int, parts: Parts, found: os.stat_result) -> Callable[[], None]:
        """Keep the file at `parts`, which stands in `folder`. Gives back what undoes it, should it not be replaced."""
        if found.st_size > self._max_bytes:
            _log.warning("%s is too large for a backup of its last version.", "/".join(parts))
            return _nothing
        try:
            kept = self._keep(folder, parts, found.st_size)
        except (OSError, PathRefused) as e:
            # A root whose owner is someone else (`/`) has no place for backups; its files can still be edited.
            if isinstance(e, OSError) and not isinstance(e, FileMissing) and e.errno not in _UNWRITABLE:
                raise
            if not self._warned:
                _log.warning("No backups are kept: %s", e)
            self._warned = True
            return _nothing
        return lambda: self._undo(kept)

    def _keep(self, folder: int, parts: Parts, size: int) -> Parts:
        while True:
            place = self._folder(*parts)
            try:
                kept = (*parts, _link_or_copy(folder, parts[-1], place))
                with self._lock:
                    self._sizes[kept] = size
                    self._total += size
                    self._bound_file(place, kept)
                    self._bound_all()
                return kept
            except FileNotFoundError:
                # An empty place goes with its last backup: it may have gone just now.
                if os.fstat(place).st_nlink:
                    raise
            finally:
                os.close(place)

    def _undo(self, kept: Parts) -> None:
        with self._lock, suppress(OSError):
            self._drop(kept)

    def _bound_file(self, place: int, kept: Parts) -> None:
        parts = kept[:-1]
        names = self._names.get(parts)
        if names is None:
            with os.scandir(place) as found:
                names = sorted((entry.name for entry in found if _NAME.fullmatch(entry.name)), key=_age)
            self._names[parts] = names
        else:
            names.append(kept[-1])
        # Removing one costs as much as writing one: it is done for many at once, and not at each write.
        if len(names) <= 2 * self._per_file:
            return
        # The first of today stays: whatever a program writes in a loop, what the day began with is there.
        first = names[:1] if names[0][:8] == f"{datetime.now(timezone.utc):%Y%m%d}" else []
        gone = names[len(first) : -self._per_file]
        names[:] = [*first, *names[-self._per_file :]]
        for name in gone:
            self._total -= self._sizes.pop((*parts, name), 0)
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=place)

    def _bound_all(self) -> None:
        self._until_rescan -= 1
        if self._until_rescan <= 0 or self._total > self._max_bytes:
            # Other processes keep backups here too, and people delete them.
            root = self._folder()
            try:
                self._sizes = _scan(root)
            finally:
                os.close(root)
            self._total = sum(self._sizes.values())
            self._names.clear()
            self._until_rescan = _RESCAN
        for kept in list(self._sizes) if self._total > self._max_bytes else ():
            if self._total <= self._max_bytes:
                return
            self._drop(kept)

    def _drop(self, kept: Parts) -> None:
        """Remove one, and the folders that are empty without it."""
        self._total -= self._sizes.pop(kept, 0)
        self._names.pop(kept[:-1], None)
        root = self._folder()
        try:
            with suppress(FileMissing, FileNotFoundError):
                place = open_folder(root, kept[:-1])
                try:
                    os.unlink(kept[-1], dir_fd=place)
                finally:
                    os.close(place)
            for depth in range(len(kept) - 1, 0, -1):
                above = open_folder(root, kept[: depth - 1])
                try:
                    os.rmdir(kept[depth - 1], dir_fd=above)
                finally:
                    os.close(above)
        except OSError:  # it holds others
            return
        finally:
            os.close(root)


def _nothing() -> None:
    """Nothing was kept, so there is nothing to undo."""


def _age(name: str) -> tuple[str, int]:
    at, number = name.split("-")
    return at, int(number)


def _link_or_copy(folder: int, name: str, place: int) -> str:
    at = re.sub(r"[-:.]", "", datetime.now(timezone.utc).isoformat(timespec="microseconds")[:26]) + "Z"
    number = 0
    while True:
        kept = f"{at}-{number}"
        try:
            os.link(name, kept, src_dir_fd=folder, dst_dir_fd=place, follow_symlinks=False)
        except FileExistsError:
            number += 1
            continue
        except OSError as e:
            if e.errno not in _NO_LINKS:
                raise
            _copy(folder, name, place, kept)
        return kept


def _copy(folder: int, name: str, place: int, kept: str) -> None:
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        target = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place)
        try:
            while piece := os.read(source, 1 << 20):
                view = memoryview(piece)
                while view:
                    view = view[os.write(target, view) :]
            os.fsync(target)
        except BaseException:
            os.unlink(kept, dir_fd=place)
            raise
        finally:
            os.close(target)
    finally:
        os.close(source)


def _scan(root: int) -> dict[Parts, int]:
    found: list[tuple[str, int, Parts, int]] = []
    for folder, _, names, descriptor in os.fwalk(".", dir_fd=root):
        above = tuple(name for name in folder.split("/") if name != ".")
        for name in filter(_NAME.fullmatch, names):
            with suppress(FileNotFoundError):
                size = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_size
                found.append((*_age(name), (*above, name), size))
    return {kept: size for _, _, kept, size in sorted(found)}
