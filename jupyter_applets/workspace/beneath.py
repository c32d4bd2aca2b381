"""Opens what lies beneath a root's descriptor, and nothing else, however links are swapped meanwhile.

On Linux `openat2` with RESOLVE_BENEATH lets the kernel decide, so links that stay inside work. Elsewhere each part is
opened from the one before and no link is followed at all. Check-then-open would leave a race (CVE-2025-53109).
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from functools import cache

from ..errors import FileMissing, PathRefused
from .paths import Parts

_SYS_OPENAT2 = 437
_NO_MAGICLINKS, _BENEATH = 0x02, 0x08
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
# A FIFO must not hold us up before it is seen to be one.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_folder(root: int, parts: Parts) -> int:
    """A descriptor of a folder; the caller closes it."""
    return _open(root, parts, os.O_RDONLY | os.O_DIRECTORY)


def open_file(root: int, parts: Parts) -> int:
    """A descriptor of a plain file, for reading; devices, FIFOs and sockets are refused."""
    descriptor = _open(root, parts, os.O_RDONLY | _NONBLOCK)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    what = "a folder" if stat.S_ISDIR(kind) else "not a plain file"
    raise PathRefused(f"{'/'.join(parts)!r} is {what}.")


def _open(root: int, parts: Parts, flags: int) -> int:
    try:
        if _has_openat2():
            return _openat2(root, "/".join(parts) or ".", flags | _CLOEXEC)
        return _walk(root, parts, flags | _CLOEXEC)
    except OSError as e:
        shown = "/".join(parts) or "."
        if e.errno in (errno.EXDEV, errno.ELOOP, errno.EMLINK):
            raise PathRefused(f"{shown!r} leads out of the workspace through a link.") from None
        if e.errno == errno.ENOENT:
            raise FileMissing(f"There is no {shown!r}.") from None
        if e.errno == errno.ENOTDIR:
            raise FileMissing(f"{shown!r} is not a folder, or lies in what is none.") from None
        raise


def _openat2(root: int, path: str, flags: int) -> int:
    how = _OpenHow(flags, 0, _BENEATH | _NO_MAGICLINKS)
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
