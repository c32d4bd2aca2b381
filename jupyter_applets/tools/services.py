"""Services: what a shell's worker threads have at hand when a tool's work is done: files, saved applets, decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..host.driver import MakeWatcher, Watcher
from ..store.applets import AppletStore
from ..store.decisions import Decisions
from ..store.sessions import SessionStore
from ..workspace.audit import Actor
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
        self.sessions = SessionStore(self.workspace)

    @contextmanager
    def logged(self, verb: str, slug: str, actor: Actor) -> Iterator[None]:
        """A change of a saved applet, in the audit log."""
        with self.workspace.logged(verb, "/".join((*self.workspace.applets, slug)), actor):
            yield

    def close(self) -> None:
        self.workspace.close()


def watcher(services: Services) -> MakeWatcher:
    """Makes the watcher of the workspace when the first file is to be watched; who may was decided before."""

    def make(changed: Callable[[str, Any], None]) -> Watcher:
        from ..workspace.watching import WatchThread

        return WatchThread(services.workspace, changed)

    return make
