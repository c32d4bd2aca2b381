"""Waits for a call's reply: blocking, as in a busy cell, or awaiting.

The deadline is the host's to decide. The wait here only ends later by itself when the host has gone silent.
"""

from __future__ import annotations

import concurrent.futures
import weakref
from collections import deque
from typing import TYPE_CHECKING

from ..errors import LinkLost
from ..link.base import Link, PendingCall
from ..protocol.base import COMMAND_TIMEOUT, READY_TIMEOUT, Json

if TYPE_CHECKING:
    import asyncio

GRACE = 5.0


def wait(link: Link, pending: PendingCall, timeout: float | None) -> Json:
    """Block until the reply is there. An interrupt of the cell cancels the call."""
    __tracebackhide__ = True
    try:
        # The error, not its raising: a person's traceback ends where the call was made.
        error = pending.exception(_patience(timeout))
    except concurrent.futures.TimeoutError as e:
        link.cancel(pending)
        raise _silent() from e
    except KeyboardInterrupt:
        link.cancel(pending)
        raise
    if error is not None:
        raise error
    return pending.result()


async def wait_async(link: Link, pending: PendingCall, timeout: float | None) -> Json:
    import asyncio  # slow to load, and loaded already wherever a loop runs

    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()
    _arrivals.setdefault(loop, _Arrivals()).watch(pending, arrived)
    patience = loop.call_later(_patience(timeout), _settle, arrived)
    try:
        await arrived
    except asyncio.CancelledError:
        link.cancel(pending)
        raise
    finally:
        patience.cancel()
    if not pending.done():
        link.cancel(pending)
        raise _silent()
    return pending.result()


class _Arrivals:
    """The replies that have come for calls awaited on one loop: however many came together, the loop is woken once."""

    def __init__(self) -> None:
        self._arrived: deque[asyncio.Future[None]] = deque()
        self._waking = False

    def watch(self, pending: PendingCall, arrived: asyncio.Future[None]) -> None:
        pending.add_done_callback(lambda _: self._add(arrived))

    def _add(self, arrived: asyncio.Future[None]) -> None:
        # In this order, and in the other one below, so that none is left behind.
        self._arrived.append(arrived)
        loop = arrived.get_loop()
        if not self._waking and not loop.is_closed():
            self._waking = True
            loop.call_soon_threadsafe(self._settle_all)

    def _settle_all(self) -> None:
        self._waking = False
        while self._arrived:
            _settle(self._arrived.popleft())


_arrivals: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Arrivals] = weakref.WeakKeyDictionary()


def _settle(arrived: asyncio.Future[None]) -> None:
    if not arrived.done():
        arrived.set_result(None)


def _patience(timeout: float | None) -> float:
    return (READY_TIMEOUT + COMMAND_TIMEOUT if timeout is None else timeout) + GRACE


def _silent() -> LinkLost:
    return LinkLost("The host gave no sign in time: the Jupyter server is stopped, busy or out of reach.")
