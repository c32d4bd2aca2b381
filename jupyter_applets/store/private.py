"""Files of the private folder's folders: for their owner alone, written whole or not at all, no link followed."""

from __future__ import annotations

import contextlib
import os
from typing import NoReturn

from ..errors import FileMissing, PathRefused
from ..workspace import atomic
from ..workspace.beneath import open_file
from ..workspace.paths import Parts

MODE, FOLDER_MODE = 0o600, 0o700


def no_link(parts: Parts) -> NoReturn:
    """A guard: nobody but us writes here, so a link is someone's trick or mistake."""
    raise PathRefused(f"A link to {'/'.join(parts)!r} stands in the private folder, and is not followed.")


def read(folder: int, *parts: str) -> bytes | None:
    """None where there is no such file."""
    try:
        with os.fdopen(open_file(folder, parts, no_link), "rb") as file:
            return file.read()
    except FileMissing:
        return None


def put(folder: int, name: str, data: bytes) -> None:
    with atomic.prepared(folder, data, MODE) as (temporary, _):
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def put_soon(folder: int, name: str, data: bytes) -> None:
    """The same without waiting for the disk: for what is written often, and can be made anew."""
    temporary = atomic.temporary_name()
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(temporary, flags, MODE, dir_fd=folder), "wb") as file:
            file.write(data)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
