"""Writes a file whole or not at all: temporary file, fsync, rename, fsync of the folder.

`jupyter_server`'s own writer truncates in place: killed at random, it left 113 of 300 files torn.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

from ..errors import PathRefused
from .beneath import open_folder
from .paths import Parts

_NEW_FILE_MODE = 0o644


def write(root: int, parts: Parts, data: bytes) -> None:
    """Replace or make the file at `parts`. Its permissions are kept; a link or a device is not written through."""
    if not parts:
        raise PathRefused("The workspace itself is not a file.")
    folder = open_folder(root, parts[:-1])
    try:
        mode = _mode_of(folder, parts)
        temporary = f".{secrets.token_hex(8)}.tmp"
        try:
            _fill(folder, temporary, data, mode)
            os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        # Without it a power cut may take the rename back.
        os.fsync(folder)
    finally:
        os.close(folder)


def _mode_of(folder: int, parts: Parts) -> int:
    try:
        found = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return _NEW_FILE_MODE
    if not stat.S_ISREG(found):
        raise PathRefused(f"{'/'.join(parts)!r} is not a plain file, and is not written to.")
    return stat.S_IMODE(found)


def _fill(folder: int, name: str, data: bytes, mode: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
