"""Opens what lies beneath a root's descriptor, and nothing else, however links are swapped meanwhile.

On Linux `openat2` with RESOLVE_BENEATH lets the kernel decide, so links that stay inside work. Elsewhere each part is
opened from the one before and no link is followed at all. Check-then-open would leave a race (CVE-2025-53109).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

from ..errors import FileMissing, PathRefused
from .paths import Parts

Guard: TypeAlias = Callable[[Parts], None]
"""Refuses, by raising, parts that a link may lead to inside the root but that are out of reach."""

_SYS_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
# A FIFO must not hold us up before it is seen to be one.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_root(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC)


def open_folder(root: int, parts: Parts, guard: Guard | None = None) -> int:
    """A descriptor of a folder; the caller closes it."""
    return _open(root, parts, os.O_RDONLY | os.O_DIRECTORY, guard)


def open_file(root: int, parts: Parts, guard: Guard | None = None) -> int:
    """A descriptor of a plain file, for reading; devices, FIFOs and sockets are refused."""
    descriptor = _open(root, parts, os.O_RDONLY | _NONBLOCK, guard)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    what = "a folder" if stat.S_ISDIR(kind) else "not a plain file"
    raise PathRefused(f"{'/'.join(parts)!r} is {what}.")


def stat_beneath(root: int, parts: Parts, guard: Guard | None = None) -> os.stat_result:
    """What stands there, of whatever kind, without opening it: a device may act on being opened."""
    path_only: int = getattr(os, "O_PATH", os.O_RDONLY | _NONBLOCK)
    descriptor = _open(root, parts, path_only, guard)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def make_folder(root: int, parts: Parts, guard: Guard | None = None, mode: int = 0o777) -> int:
    """A descriptor of a folder, made with those above it where they are missing; the caller closes it."""
    with contextlib.suppress(FileMissing):
        return open_folder(root, parts, guard)
    above = make_folder(root, parts[:-1], guard, mode) if len(parts) > 1 else os.dup(root)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(parts[-1], mode, dir_fd=above)
            os.fsync(above)
        # Opened from the one above, so a link put there meanwhile is not followed.
        return _walk(above, parts[-1:], os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC)
    except OSError as e:
        raise _worded(parts, e) from None
    finally:
        os.close(above)


def _open(root: int, parts: Parts, flags: int, guard: Guard | None) -> int:
    path = "/".join(parts) or "."
    try:
        if not _has_openat2():
            return _walk(root, parts, flags | _CLOEXEC)
        try:
            return _openat2(root, path, flags | _CLOEXEC, _NO_SYMLINKS)
        except OSError as e:
            if e.errno != errno.ELOOP:
                raise
        descriptor = _openat2(root, path, flags | _CLOEXEC)
    except OSError as e:
        raise _worded(parts, e) from None
    if guard is not None:
        try:
            guard(real_parts(root, descriptor, parts))
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _worded(parts: Parts, error: OSError) -> OSError | PathRefused:
    """What went wrong while opening, in our words where we have some."""
    shown = "/".join(parts) or "."
    if error.errno in (errno.EXDEV, errno.ELOOP, errno.EMLINK):
        return PathRefused(f"{shown!r} leads out of the workspace through a link.")
    if error.errno == errno.ENOENT:
        return FileMissing(f"There is no {shown!r}: paths begin at the root of the Jupyter server.")
    if error.errno == errno.ENOTDIR:
        return FileMissing(f"{shown!r} is not a folder, or lies in what is none.")
    if error.errno == errno.ENXIO:  # a socket
        return PathRefused(f"{shown!r} is not a plain file.")
    return error


def real_parts(root: int, descriptor: int, parts: Parts) -> Parts:
    """Where what was opened as `parts`, perhaps through links, really stands."""
    if not _has_openat2():
        return parts
    path = "/".join(parts)
    try:
        above, here = (Path(f"/proc/self/fd/{number}").readlink().parts[1:] for number in (root, descriptor))
    except OSError:  # no /proc, so nobody can tell
        raise PathRefused(f"{path!r} is a link, and links cannot be followed here.") from None
    if here[: len(above)] != above:
        raise PathRefused(f"{path!r} leads out of the workspace through a link.")
    return here[len(above) :]


def _openat2(root: int, path: str, flags: int, resolve: int = 0) -> int:
    how = _OpenHow(flags, 0, _BENEATH | _NO_MAGICLINKS | resolve)
    while True:
        result: int = _libc().syscall(_SYS_OPENAT2, root, path.encode(), ctypes.byref(how), ctypes.sizeof(how))
        if result >= 0:
            return result
        error = ctypes.get_errno()
        # The kernel asks to try again when a rename went on beside it.
        if error not in (errno.EAGAIN, errno.EINTR):
            raise OSError(error, os.strerror(error), path)


def _walk(root: int, parts: Parts, flags: int) -> int:
    here = os.dup(root)
    try:
        for name in parts[:-1]:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | _CLOEXEC, dir_fd=here)
            os.close(here)
            here = below
        return os.open(parts[-1] if parts else ".", flags | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _has_openat2() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    here = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.close(_openat2(here, ".", os.O_RDONLY | os.O_DIRECTORY))
    except OSError:  # an older Linux, or a sandbox that does not know the call
        return False
    finally:
        os.close(here)
    return True
