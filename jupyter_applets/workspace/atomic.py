"""Writes a file whole or not at all: temporary file, fsync, rename, fsync of the folder.

`jupyter_server`'s own writer truncates in place: killed at random, it left 113 of 300 files torn.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator

from ..errors import PathRefused
from .beneath import open_folder
from .paths import Parts

TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
"""The names of our temporary files: nobody is told of them."""


def temporary_name() -> str:
    return f".{secrets.token_hex(8)}.tmp"


def write(root: int, parts: Parts, data: bytes) -> None:
    """Replace or make the file at `parts`. Its permissions are kept; a link or a device is not written through."""
    if not parts:
        raise PathRefused("The workspace itself is not a file.")
    folder = open_folder(root, parts[:-1])
    try:
        replace(folder, parts, data)
    finally:
        os.close(folder)


def replace(
    folder: int, parts: Parts, data: bytes, before: Callable[[os.stat_result | None], None] | None = None
) -> os.stat_result:
    """The same in an open folder. `before` sees what is about to be replaced, and may raise to keep it."""
    with prepared(folder, data, mode_of(folder, parts)) as (temporary, written):
        if before is not None:
            before(stat_of(folder, parts))
        os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
    # Without it a power cut may take the rename back.
    os.fsync(folder)
    return written


@contextlib.contextmanager
def prepared(folder: int, data: bytes, mode: int | None) -> Iterator[tuple[str, os.stat_result]]:
    """A temporary file that holds `data` for good, to be renamed within; it goes when that fails."""
    temporary = temporary_name()
    try:
        yield temporary, fill(folder, temporary, data, mode)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def mode_of(folder: int, parts: Parts) -> int | None:
    """The permissions that a file has; a new one gets what the process gives its files."""
    found = stat_of(folder, parts)
    if found is None:
        return None
    mode = stat.S_IMODE(found.st_mode)
    if not mode & 0o222:
        raise PathRefused(f"{'/'.join(parts)!r} may only be read: its owner has taken the right to write it away.")
    return mode


def stat_of(folder: int, parts: Parts) -> os.stat_result | None:
    """What is there to be replaced; only a plain file may be."""
    try:
        found = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise PathRefused(f"{'/'.join(parts)!r} is not a plain file, and is not written to.")
    return found


def fill(folder: int, name: str, data: bytes, mode: int | None) -> os.stat_result:
    """Make a new file and bring its bytes to the disk. Without a mode, the umask decides."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(name, flags, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if mode is not None:
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)
