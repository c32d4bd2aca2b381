"""Runs the user's callbacks on the kernel's own loop, between cells, with their output in the cell that gave them."""

from __future__ import annotations

import contextvars
import inspect
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger("jupyter_applets")


class Callback:
    """A function and the place where it was given: the loop it runs on, the cell its output goes to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._context = contextvars.copy_context()
        import asyncio  # slow to load, and loaded already wherever a loop runs

        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def __call__(self, *args: Any) -> None:
        """Run it, from any thread. Where no loop was running, a thread of its own runs it: it may block."""
        if self._loop is None or self._loop.is_closed():
            _worker().submit(self._context.copy().run, self._run, *args)
        else:
            self._loop.call_soon_threadsafe(self._run, *args, context=self._context.copy())

    def _run(self, *args: Any) -> None:
        try:
            result = self.function(*args)
            if inspect.iscoroutine(result):
                import asyncio

                task = asyncio.ensure_future(result)
                _running.add(task)
                task.add_done_callback(_done)
        except Exception:
            log.exception("a callback failed: %r", self.function)


@cache
def _worker() -> ThreadPoolExecutor:
    """One thread for all, so that callbacks come in order."""
    return ThreadPoolExecutor(1, thread_name_prefix="jupyter_applets-callbacks")


_running: set[asyncio.Future[Any]] = set()
"""Tasks are kept here while they run: the loop itself holds them only weakly."""


def _done(task: asyncio.Future[Any]) -> None:
    _running.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a callback failed", exc_info=error)


class Callbacks:
    """The callbacks of one kind, in the order in which they were added; adding one twice adds it once."""

    def __init__(self) -> None:
        self._all: list[Callback] = []

    def add(self, function: Callable[..., Any], *, remove: bool = False) -> None:
        self._all = [callback for callback in self._all if callback.function != function]
        if not remove:
            self._all.append(Callback(function))

    def __call__(self, *args: Any) -> None:
        for callback in list(self._all):
            callback(*args)
