"""What stands at watched paths just now, as signatures that differ when a file does. Never looks out of the root."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import TypeAlias

from ..errors import FileMissing, PathRefused
from .atomic import TEMPORARY
from .audit import Actor
from .beneath import open_folder, stat_beneath
from .files import Workspace

Signature: TypeAlias = tuple[int, int, int] | None
"""Time, size and inode of a file. None is a folder, of which it is only told that it came or went."""
Seen: TypeAlias = "dict[str, Signature]"

# What nobody may read, nobody is told of. Whose state it is, is for those to check who pass the news on.
_ANYONE = Actor("user")


class Looker:
    """Looks at names, as `Workspace.watchable` gives them; the root is the empty one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def path(self, name: str) -> Seen:
        """The file, or the folder with what is directly in it."""
        found = self.one(name)
        if name in found and found[name] is None:
            found.update(self._children(name))
        return found

    def tree(self, name: str) -> Seen:
        """All that is at and below a name. Links are not followed into folders."""
        found = self.one(name)
        waiting = [name] if name in found and found[name] is None else []
        while waiting:
            for child, signature, is_link in self._entries(waiting.pop()):
                found[child] = signature
                if signature is None and not is_link:
                    waiting.append(child)
        return found

    def one(self, name: str) -> Seen:
        """By its name, or nothing."""
        try:
            parts = self._workspace.check(name, _ANYONE)
            guard = self._workspace.guard(name, _ANYONE)
            return _signed(name, stat_beneath(self._workspace.descriptor, parts, guard))
        except (PathRefused, OSError):
            return {}

    def folder(self, name: str) -> str | None:
        """The folder's true absolute path, if there is a folder of that name inside the root."""
        try:
            parts = self._workspace.check(name, _ANYONE)
            descriptor = open_folder(self._workspace.descriptor, parts, self._workspace.guard(name, _ANYONE))
        except (PathRefused, OSError):
            return None
        os.close(descriptor)
        root = self._workspace.root.rstrip("/")
        path = os.path.realpath(f"{root}/{name}")
        # A link may have come just now; its target would be watched by its path.
        return path if path == (root or "/") or path.startswith(f"{root}/") else None

    def _children(self, name: str) -> Seen:
        return {child: signature for child, signature, _ in self._entries(name)}

    def _entries(self, name: str) -> Iterator[tuple[str, Signature, bool]]:
        above = f"{name}/" if name else ""
        try:
            folder = open_folder(self._workspace.descriptor, self._workspace.check(name, _ANYONE))
        except (PathRefused, OSError):
            return
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if TEMPORARY.fullmatch(entry.name):
                        continue
                    child = f"{above}{entry.name}"
                    try:
                        if entry.is_symlink():
                            found = self.one(child)
                        else:
                            self._workspace.check(child, _ANYONE)
                            found = _signed(child, entry.stat(follow_symlinks=False))
                    except (PathRefused, FileMissing, FileNotFoundError):
                        continue
                    for found_name, signature in found.items():
                        yield found_name, signature, entry.is_symlink()
        finally:
            os.close(folder)


def _signed(name: str, status: os.stat_result) -> Seen:
    if stat.S_ISDIR(status.st_mode):
        return {name: None}
    if stat.S_ISREG(status.st_mode):
        return {name: (status.st_mtime_ns, status.st_size, status.st_ino)}
    return {}
