"""What the system answers when it cannot, as a sentence: no caller of the workspace meets a bare OSError."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import AppletError, StorageFailed

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.EACCES: "the system does not permit it",
    errno.EPERM: "the system does not permit it",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the path is too long for the system",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open on this machine",
    errno.EIO: "the disk failed",
    errno.EISDIR: "a folder of that name is there",
    errno.ENOTDIR: "part of its path is a file, not a folder",
    errno.ENOENT: "its folder went away meanwhile",
    errno.EEXIST: "something of that name came up meanwhile",
}


def reason(error: OSError) -> str:
    return _REASONS.get(error.errno or 0) or (error.strerror or "the system failed").lower()


@contextmanager
def worded(what: str) -> Iterator[None]:
    """`what` completes the sentence "Cannot …"."""
    try:
        yield
    except AppletError:
        raise
    except OSError as e:
        raise StorageFailed(f"Cannot {what}: {reason(e)}.") from e
