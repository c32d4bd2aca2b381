"""WatchThread: the watcher on a thread and a loop of its own, because it looks at disks, which may take their time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from ..errors import AppletError
from .files import Workspace
from .watch import Event, Watcher


class WatchThread:
    """Owns the thread. `changed` is told what happens, on the loop that made it."""

    def __init__(self, workspace: Workspace, changed: Callable[[str, Event], None]) -> None:
        self._home = asyncio.get_running_loop()
        self._loop = asyncio.new_event_loop()
        self._watcher = Watcher(workspace, lambda path, event: self._tell(changed, path, event))
        self._thread = threading.Thread(target=self._run, name="jupyter_applets-watcher", daemon=True)
        self._thread.start()

    def add(self, path: str, done: Callable[[AppletError | None], None]) -> None:
        """`done` is told when what happens from then on is seen, or why it will not be."""
        self._loop.call_soon_threadsafe(self._add, path, done)

    def remove(self, path: str) -> None:
        self._loop.call_soon_threadsafe(self._watcher.remove, path)

    def add_tree(self) -> None:
        """All saved applets."""
        self._loop.call_soon_threadsafe(self._watcher.add_tree)

    async def close(self) -> None:
        closing = asyncio.run_coroutine_threadsafe(self._watcher.close(), self._loop)
        await asyncio.wait([asyncio.wrap_future(closing)], timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join, 5)

    # ---- on the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _add(self, path: str, done: Callable[[AppletError | None], None]) -> None:
        error: AppletError | None = None
        try:
            self._watcher.add(path)
        except AppletError as e:
            error = e
        self._tell(done, error)

    def _tell(self, what: Callable[..., None], *args: Any) -> None:
        if not self._home.is_closed():
            self._home.call_soon_threadsafe(what, *args)
