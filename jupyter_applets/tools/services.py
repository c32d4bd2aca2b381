"""Services: what a shell's worker threads have at hand when a tool's work is done: files, saved applets, decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..host.driver import Watcher
from ..store.applets import AppletStore
from ..store.decisions import Decisions
from ..workspace.files import Workspace
from ..workspace.paths import SENSITIVE


class Services:
    """Owns the root's descriptor, through the workspace."""

    def __init__(
        self,
        root: str | Path,
        *,
        applets: str = "applets",
        sensitive: Iterable[str] = SENSITIVE,
        max_file_bytes: int = 512 * 1024 * 1024,
    ) -> None:
        self.workspace = Workspace(root, applets=applets, sensitive=sensitive, max_bytes=max_file_bytes)
        self.store = AppletStore(self.workspace)
        self.decisions = Decisions(self.workspace)

    def close(self) -> None:
        self.workspace.close()


def watcher(services: Services) -> Callable[[Callable[[str, Any], None]], Watcher]:
    """Makes the watcher of the workspace when the first file is to be watched."""
    return lambda changed: _WorkspaceWatcher(services, changed)


class _WorkspaceWatcher:
    """The workspace's watcher as a driver knows one. Who may watch what was decided before."""

    def __init__(self, services: Services, changed: Callable[[str, Any], None]) -> None:
        from ..workspace.watch import Watcher as Watching

        self._watching = Watching(services.workspace, changed)
        self._applets = "/".join(services.workspace.applets)

    def add(self, path: str) -> None:
        self._watching.add(path)

    def remove(self, path: str) -> None:
        self._watching.remove(path)

    def add_tree(self) -> None:
        self._watching.add_tree(self._applets)

    async def close(self) -> None:
        await self._watching.close()
