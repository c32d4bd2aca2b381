"""The audit log: one JSON line for each operation on files. It never makes an operation fail."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, Literal, NamedTuple

import msgspec

from ..errors import AppletError

LOG = "audit.jsonl"
ROTATED = "audit.1.jsonl"
MAX_BYTES = 5_000_000

_MAX_PATH = 1024
_log = logging.getLogger(__name__)


class Actor(NamedTuple):
    """Who asks: for the log, and for what is out of reach."""

    kind: Literal["user", "kernel", "agent", "applet"]
    session: str = ""
    window_id: str = ""
    slug: str = ""
    """The saved applet that runs in the window, if any."""


class Audit:
    """Owns the log's descriptor, and the lock under which the log is opened and turned over."""

    def __init__(self, folder: Callable[[], int], max_bytes: int = MAX_BYTES) -> None:
        """`folder` opens the folder of the log, making it where it is missing."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._descriptor = -1
        self._failed = False

    def record(
        self, actor: Actor, verb: str, path: str, *, error: BaseException | None = None, size: int | None = None
    ) -> None:
        line: dict[str, Any] = {
            "at": stamp(datetime.now(timezone.utc)),
            "actor": actor.kind,
            "session": actor.session,
            "windowId": actor.window_id,
            "verb": verb,
            "path": path[:_MAX_PATH],
            "ok": error is None,
        }
        if error is not None:
            line["code"] = error.code if isinstance(error, AppletError) else type(error).__name__
        if size is not None:
            line["bytes"] = size
        # One write of one line: lines of other processes come before or after it, never within.
        self._append(_encoded(line) + b"\n")

    def close(self) -> None:
        with self._lock:
            self._let_go()

    def _append(self, line: bytes) -> None:
        with self._lock:
            try:
                self._make_ready()
                os.write(self._descriptor, line)
                self._failed = False
            except (OSError, AppletError) as e:
                self._let_go()
                if not self._failed:
                    _log.warning("The audit log cannot be written: %s", e)
                self._failed = True

    def _make_ready(self) -> None:
        if self._descriptor >= 0:
            found = os.fstat(self._descriptor)
            if found.st_nlink and found.st_size < self._max_bytes:
                return
            self._let_go()
        folder = self._folder()
        try:
            descriptor = _open(folder)
            if os.fstat(descriptor).st_size >= self._max_bytes:
                os.close(descriptor)
                os.rename(LOG, ROTATED, src_dir_fd=folder, dst_dir_fd=folder)
                descriptor = _open(folder)
            self._descriptor = descriptor
        finally:
            os.close(folder)
        _mend(descriptor)

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _encoded(line: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError:  # a path that is no text, which is refused, and of interest here
        return json.dumps(line).encode()


def stamp(at: datetime) -> str:
    """UTC with milliseconds and `Z`, as everywhere in what we write."""
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _open(folder: int) -> int:
    return os.open(LOG, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)


def _mend(descriptor: int) -> None:
    """Close a line that a crash left torn, so that the next one stands by itself."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        os.write(descriptor, b"\n")
