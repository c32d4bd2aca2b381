"""What people decided about permissions, for each applet: one JSON file in the private folder."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

import msgspec

from ..errors import BrokenApplet, FileMissing
from ..workspace import atomic
from ..workspace.beneath import open_file, open_folder
from ..workspace.failures import worded
from ..workspace.files import Workspace
from .documents import decode, encode

FILE = "permissions.json"
_log = logging.getLogger(__name__)


class Decisions:
    """Owns the file. A broken one is set aside: who cannot read a decision asks again."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()

    def load(self) -> dict[str, dict[str, Any]]:
        with self._lock, worded("read the permissions that were given"):
            try:
                folder = open_folder(self._workspace.descriptor, self._workspace.private)
            except FileMissing:
                return {}  # and nothing is made in a folder in which nothing was decided
            try:
                return _read(folder)
            finally:
                os.close(folder)

    def change(self, changes: Mapping[str, Mapping[str, Any] | None]) -> None:
        """Keep these anew, and those that are None no more. What another process has kept meanwhile stays."""
        with self._lock, worded("keep the permissions that were given"):
            folder = self._workspace.private_folder()
            try:
                fcntl.flock(folder, fcntl.LOCK_EX)
                kept = {**_read(folder), **changes}
                decisions = {key: value for key, value in kept.items() if value is not None}
                atomic.replace(folder, (FILE,), encode(FILE, decisions, sort_keys=True))
            finally:
                os.close(folder)


def _read(folder: int) -> dict[str, dict[str, Any]]:
    try:
        with os.fdopen(open_file(folder, (FILE,)), "rb") as file:
            return msgspec.convert(decode(FILE, file.read()), dict[str, dict[str, Any]])
    except FileMissing:
        return {}
    except (BrokenApplet, msgspec.ValidationError) as e:
        aside = f"{FILE}.broken-{datetime.now(timezone.utc):%Y%m%dT%H%M%S%fZ}"
        _log.warning("%s is set aside as %s, so permissions are asked for again: %s", FILE, aside, e)
        with contextlib.suppress(OSError):
            os.rename(FILE, aside, src_dir_fd=folder, dst_dir_fd=folder)
        return {}
