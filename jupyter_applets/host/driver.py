"""Runs a Host on an asyncio loop: gives it the time, carries out its effects, one batch a peer and turn.

What a tool needs done beside the loop (files, saved applets) is done by worker threads, with the shell's `services`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from ..errors import AppletError, InternalError, StorageFailed
from .effects import Effect, Perform, Send, Stream, Tell, Unwatch, WakeAt, Watch
from .host import Host

log = logging.getLogger("jupyter_applets.host")

STREAMS = 8
"""How many files are sent to one peer at once; more wait for their turn."""

T = TypeVar("T")


class Watcher(Protocol):
    """Tells `Driver.file_changed` what happens to files."""

    def add(self, path: str, done: Callable[[AppletError | None], None]) -> None: ...
    def remove(self, path: str) -> None: ...
    def add_tree(self) -> None: ...
    async def close(self) -> None: ...


MakeWatcher: TypeAlias = Callable[[Callable[[str, Any], None]], Watcher]
"""Given who is told what changed."""


class Driver:
    """Owns the host's alarm, the way to each peer, and worker threads. Its methods are for the loop’s own thread."""

    def __init__(
        self,
        host: Host,
        loop: asyncio.AbstractEventLoop,
        services: Any = None,
        watcher: MakeWatcher | None = None,
    ) -> None:
        self.host = host
        self.services = services
        self._loop = loop
        self._sinks: dict[str, Callable[[list[Any]], None]] = {}
        self._drains: dict[str, Callable[[], Awaitable[None]]] = {}
        self._alarm: asyncio.TimerHandle | None = None
        # One thread for what has an order, such as writes; several for what only reads.
        self._ordered = ThreadPoolExecutor(1, thread_name_prefix="jupyter_applets-writer")
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="jupyter_applets-reader")
        self._streams: dict[str, asyncio.Semaphore] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing: dict[str, asyncio.Task[None]] = {}
        """By peer, the last of its ordered works: what it asks to read after that must find it done."""
        self._news: dict[str, asyncio.Event] = {}
        self._make_watcher = watcher
        self._watcher: Watcher | None = None

    def connect(
        self,
        peer: str,
        role: Literal["kernel", "page"],
        session: str,
        sink: Callable[[list[Any]], None],
        drained: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`sink` takes each batch of messages for this peer; it must not block. `drained` waits until it is through."""
        self._sinks[peer] = sink
        if drained is not None:
            self._drains[peer] = drained
        self._carry_out(self.host.connect(peer, role, session, self._loop.time()))

    def receive(self, peer: str, messages: Iterable[Any]) -> None:
        if peer not in self._sinks:
            return
        now = self._loop.time()
        effects: list[Effect] = []
        for message in messages:
            try:
                effects += self.host.receive(peer, message, now)
            except Exception:
                log.exception("a message of %s failed inside the host", peer)
                effects += self.host.recover()
        self._carry_out(effects)

    def disconnect(self, peer: str) -> None:
        if self._sinks.pop(peer, None) is not None:
            self._drains.pop(peer, None)
            self._streams.pop(peer, None)
            self._carry_out(self.host.disconnect(peer, self._loop.time()))

    async def run(self, work: Callable[[Any], T], *, ordered: bool = False) -> T:
        """Do something with the services on a worker thread, in line with the host's own work when it is `ordered`."""
        return await self._loop.run_in_executor(self._ordered if ordered else self._pool, work, self.services)

    def apply(self, change: Callable[[Host], T]) -> T:
        """Change something in the host from outside its messages, and carry out what follows from it."""
        self.host.outbox.now = self._loop.time()
        try:
            return change(self.host)
        finally:
            self._carry_out(self.host.recover())

    async def news(self, topic: str) -> None:
        """Until something happens there of which the host tells."""
        await self._news.setdefault(topic, asyncio.Event()).wait()

    def file_changed(self, path: str, event: Literal["created", "modified", "deleted"]) -> None:
        self._carry_out(self.host.file_changed(path, event, self._loop.time()))

    async def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._sinks.clear()
        # What was to be written is written; whoever closes the services next finds nobody at work with them.
        await self._loop.run_in_executor(None, self._ordered.shutdown)
        for task in list(self._tasks):
            task.cancel()
        if self._watcher is not None:
            await self._watcher.close()
        await self._loop.run_in_executor(None, self._pool.shutdown)

    # ---- inside

    def _wake(self) -> None:
        self._alarm = None
        self._carry_out(self.host.wake(self._loop.time()))

    def _carry_out(self, effects: list[Effect]) -> None:
        batches: dict[str, list[Any]] = {}
        for effect in effects:
            match effect:
                case Send(peer=peer, message=message):
                    batches.setdefault(peer, []).append(message)
                case WakeAt(at=at):
                    if self._alarm is not None:
                        self._alarm.cancel()
                    self._alarm = self._loop.call_at(at, self._wake)
                case Perform(ordered=True, peer=str(peer)):
                    self._writing[peer] = self._start(self._perform(effect))
                case Perform(peer=peer):
                    self._start(self._perform(effect), after=self._writing.get(peer or ""))
                case Stream(peer=peer):
                    self._start(self._stream(effect), after=self._writing.get(peer))
                case Watch() | Unwatch():
                    self._watch(effect)
                case Tell(topic=topic):
                    if (event := self._news.pop(topic, None)) is not None:
                        event.set()
        for peer, batch in batches.items():
            self._put(peer, batch)

    def _put(self, peer: str, batch: list[Any]) -> None:
        sink = self._sinks.get(peer)
        if sink is not None:
            try:
                sink(batch)
            except Exception:
                log.exception("what was for %s could not be sent", peer)

    def _start(self, work: Coroutine[Any, Any, None], after: asyncio.Task[None] | None = None) -> asyncio.Task[None]:
        task = self._loop.create_task(work if after is None else _follow(after, work))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        for peer in [peer for peer, last in self._writing.items() if last is task]:
            del self._writing[peer]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("what the host asked for failed", exc_info=error)

    async def _perform(self, effect: Perform) -> None:
        try:
            outcome: Any = await self.run(effect.work, ordered=effect.ordered)
        except Exception as e:
            outcome = _worded(e)
        self._carry_out(self.host.performed(effect.done, outcome, self._loop.time()))

    async def _stream(self, effect: Stream) -> None:
        if effect.peer not in self._sinks:
            return
        async with self._streams.setdefault(effect.peer, asyncio.Semaphore(STREAMS)):
            pieces: Any = None
            try:
                pieces = await self.run(effect.work)
                while (piece := await self._loop.run_in_executor(self._pool, next, pieces, None)) is not None:
                    if effect.peer not in self._sinks:
                        break
                    self._put(effect.peer, [piece])
                    if (drained := self._drains.get(effect.peer)) is not None:
                        await drained()
            except Exception as e:
                self._put(effect.peer, [effect.failed(_worded(e))])
            finally:
                # It has a file open, and may be at work on a thread still when this is cancelled.
                with contextlib.suppress(ValueError):
                    if isinstance(pieces, Generator):
                        pieces.close()

    def _watch(self, effect: Watch | Unwatch) -> None:
        if self._watcher is None:
            if self._make_watcher is None:
                if isinstance(effect, Watch) and effect.done is not None:
                    self._watched(effect, StorageFailed("Files are not watched here."))
                return
            self._watcher = self._make_watcher(self.file_changed)
        match effect:
            case Watch(tree=True):
                self._watcher.add_tree()
            case Watch(path=path):
                self._watcher.add(path, lambda error: self._watched(effect, error))
            case Unwatch(path=path):
                self._watcher.remove(path)

    def _watched(self, watch: Watch, error: AppletError | None) -> None:
        self._carry_out(self.host.watched(watch, error, self._loop.time()))


async def _follow(before: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
    try:
        await asyncio.wait([before])
    except asyncio.CancelledError:
        work.close()
        raise
    await work


def _worded(error: Exception) -> AppletError:
    if isinstance(error, AppletError):
        return error
    if isinstance(error, OSError):
        log.warning("the workspace failed: %s", error)
        return StorageFailed(f"The system refused: {error.strerror or error}.")
    log.error("work beside the loop failed", exc_info=error)
    return InternalError("It failed inside the host: the host's log says why.")
