"""One open file: its bytes in pieces, of the version that was opened even when another takes its place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import TracebackType

from .failures import worded

CHUNK = 256 * 1024


def version_of(found: os.stat_result) -> str:
    """Which bytes these are, as far as the file system knows: each write of ours makes a new inode."""
    return f"{found.st_mtime_ns:x}-{found.st_size:x}-{found.st_ino:x}"


class Reading(AbstractContextManager["Reading"]):
    """Owns the descriptor; `with` closes it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        found = os.fstat(descriptor)
        self.size = found.st_size
        self.version = version_of(found)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def chunks(self, start: int = 0, stop: int | None = None, size: int = CHUNK) -> Iterator[bytes]:
        """The bytes from `start` to `stop`, or to the end as it was on opening; fewer when the file was cut since."""
        end = self.size if stop is None else min(stop, self.size)
        with worded(f"read {self.path!r}"):
            while start < end:
                wanted = min(size, end - start)
                # A signal or a network file system may give less: what is joined is of the size that was asked for.
                piece = os.pread(self._descriptor, wanted, start)
                while (
                    piece
                    and len(piece) < wanted
                    and (more := os.pread(self._descriptor, wanted - len(piece), start + len(piece)))
                ):
                    piece += more
                if not piece:
                    return
                start += len(piece)
                yield piece
