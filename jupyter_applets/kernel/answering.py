"""Answering: one turn that the agent of this kernel is at, from the prompt to its end.

It runs on the loop on which the agent was registered, so while the kernel is idle and while a cell awaits; or on a
thread with a loop of its own. What it says goes out at once, then at most every 16 ms.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import CancelledError
from contextvars import Context as ContextVars
from typing import Any

from msgspec import structs

from ..errors import AgentFailed, AppletError, Cancelled, TooLarge
from ..link.base import Link
from ..protocol.sessions import RunningTurn, Turn, TurnDelta, TurnOutput, TurnTaken, TurnWaits
from . import acting

PAUSE = 0.016
BUSY_AFTER = 0.2
"""When a turn that has not begun is said to wait."""
BUSY = "Queued behind a running cell."
MAX_ANSWER = 2_000_000
"""In characters: so that the whole of it fits a message."""
PIECE = 250_000

log = logging.getLogger("jupyter_applets")


class Answering:
    """Owns the turn's text and its task. `ended` is called once, with the error and its code."""

    def __init__(
        self,
        turn: Turn,
        link: Link,
        call: Callable[[Answering], Any],
        ended: Callable[[Answering], None],
    ) -> None:
        self.turn = turn
        self.stream_id = turn.stream_id
        self.link = link
        self.error: str | None = None
        self.code: str | None = None
        self.cancelled = False
        self.done = False
        self._call = call
        self._ended = ended
        self.lock = threading.RLock()
        self._parts: list[str] = []
        self._length = 0
        self._said = 0
        self._waiting: list[str] = []
        self._sent_at = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: threading.Timer | None = None
        self._busy = threading.Timer(BUSY_AFTER, self._say_busy)
        self._busy.daemon = True

    # ---- from any thread

    def start(self, loop: asyncio.AbstractEventLoop | None, context: ContextVars) -> None:
        """On that loop, or, without one, on a thread of its own."""
        self._busy.start()
        if loop is None or not loop.is_running():
            run = threading.Thread(
                target=context.run,
                args=(asyncio.run, self._run()),
                name=f"jupyter_applets-agent-{self.stream_id[:8]}",
                daemon=True,
            )
            run.start()
        else:
            loop.call_soon_threadsafe(self._start_task, loop, context, context=context)

    def cancel(self) -> None:
        """The host has ended the turn: whatever the agent still says is for nobody."""
        self.cancelled = True
        self._busy.cancel()
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    @property
    def text(self) -> str:
        with self.lock:
            return "".join(self._parts)

    def running(self) -> RunningTurn:
        # Without what only the agent needs, and has.
        turn = structs.replace(self.turn, history=[], image_data=None)
        return RunningTurn(turn, self.text, self._loop is not None)

    def say(self, text: str) -> None:
        if not text or self.cancelled:
            return
        with self.lock:
            room = MAX_ANSWER - self._said
            fresh = sendable(text)[:room]
            self._said += len(fresh)
            self._parts.append(fresh)
            self._waiting.append(fresh)
            soon = time.monotonic() - self._sent_at < PAUSE
        if not soon:
            self.flush()
        elif self._timer is None:
            # On a thread: the agent may go on to block its loop.
            self._timer = threading.Timer(PAUSE, self._flush_later)
            self._timer.daemon = True
            self._timer.start()
        if len(text) > room:
            raise TooLarge(f"The answer was cut off: it is longer than {MAX_ANSWER:,} characters.")

    def flush(self) -> None:
        with self.lock:
            if not self._waiting or self.cancelled:
                return
            text, self._waiting = "".join(self._waiting), []
            self._sent_at = time.monotonic()
            # Under the lock: of two threads the later must not overtake.
            for start in range(0, len(text), PIECE):
                delta = text[start : start + PIECE]
                self.link.post(TurnDelta(self.stream_id, delta, self._length))
                self._length += len(delta)

    def show(self, mime: str, data: str, title: str) -> None:
        self.flush()
        if not self.cancelled:
            self.link.post(TurnOutput(self.stream_id, mime, data, title))

    # ---- on the turn's loop

    def _start_task(self, loop: asyncio.AbstractEventLoop, context: ContextVars) -> None:
        # In the context that is current: that of the cell in which the agent was registered.
        self._task = loop.create_task(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._busy.cancel()
        if not self.cancelled:
            self.link.post(TurnTaken(self.stream_id))
            acting.current.set(self)
            await self._answer()
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
        self.done = True
        self._ended(self)

    async def _answer(self) -> None:
        try:
            await self._follow(self._call(self))
        except (asyncio.CancelledError, CancelledError, Cancelled):
            self.error, self.code = "The agent was stopped.", Cancelled.code
        except AppletError as e:
            self.error, self.code = sendable(e.message), e.code
            log.error("the agent failed", exc_info=e)
        except BaseException as e:  # a sys.exit() in an agent is not to end the kernel's loop
            self.error, self.code = sendable(f"{type(e).__name__}: {e}"), AgentFailed.code
            log.error("the agent failed", exc_info=e)

    async def _follow(self, value: Any) -> None:
        """Say what an agent gives back, in whatever form it does."""
        given: Any = value
        if inspect.isasyncgen(value):
            await self._follow_async(given)
        elif inspect.isgenerator(value):
            await self._follow_sync(given)
        elif inspect.isawaitable(value):
            await self._follow(await value)
        elif isinstance(value, str):
            self.say(value)
        elif value is not None:
            from .displaying import as_output

            self.show(*as_output(value), title="")

    async def _follow_async(self, items: AsyncGenerator[Any, None]) -> None:
        try:
            async for item in items:
                await self._follow(item)
        finally:
            await items.aclose()

    async def _follow_sync(self, items: Generator[Any, None, Any]) -> None:
        try:
            while True:
                try:
                    item = next(items)
                except StopIteration as stop:
                    await self._follow(stop.value)
                    return
                await self._follow(item)
                # So that what was said goes out, and who wants it stopped is heard.
                await asyncio.sleep(0)
        finally:
            items.close()

    def _flush_later(self) -> None:
        self._timer = None
        self.flush()

    def _say_busy(self) -> None:
        if self._loop is None and not self.cancelled:
            self.link.post(TurnWaits(self.stream_id, BUSY))


def sendable(text: str) -> str:
    """Half a character, which no message can hold, is shown as one that is missing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
