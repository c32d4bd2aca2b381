"""Waits for a call's reply: blocking, as in a busy cell, or awaiting.

The deadline is the host's to decide. The wait here only ends later by itself when the host has gone silent.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import weakref
from collections import deque

from ..errors import LinkLost
from ..link.base import Link, PendingCall
from ..protocol.base import COMMAND_TIMEOUT, READY_TIMEOUT, Json

log = logging.getLogger("jupyter_applets")

GRACE = 5.0


def wait(link: Link, pending: PendingCall, timeout: float | None) -> Json:
    """Block until the reply is there. An interrupt of the cell cancels the call."""
    try:
        value = pending.result(_patience(timeout))
    except concurrent.futures.TimeoutError as e:
        if pending.done():
            raise  # the reply itself: CallTimeout is a TimeoutError too
        link.cancel(pending)
        raise _silent() from e
    except KeyboardInterrupt:
        link.cancel(pending)
        raise
    _say(pending)
    return value


async def wait_async(link: Link, pending: PendingCall, timeout: float | None) -> Json:
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()
    _arrivals(loop).watch(pending, arrived)
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
    value = pending.result()
    _say(pending)
    return value


class _Arrivals:
    """The replies that have come for the calls awaited on one loop. However many came together, the loop wakes once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arrived: deque[asyncio.Future[None]] = deque()

    def watch(self, pending: PendingCall, arrived: asyncio.Future[None]) -> None:
        pending.add_done_callback(lambda _: self._add(arrived))

    def _add(self, arrived: asyncio.Future[None]) -> None:
        first = not self._arrived
        self._arrived.append(arrived)
        if first and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle_all)

    def _settle_all(self) -> None:
        while self._arrived:
            _settle(self._arrived.popleft())


_by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Arrivals] = weakref.WeakKeyDictionary()


def _arrivals(loop: asyncio.AbstractEventLoop) -> _Arrivals:
    arrivals = _by_loop.get(loop)
    if arrivals is None:
        arrivals = _by_loop[loop] = _Arrivals(loop)
    return arrivals


def _settle(arrived: asyncio.Future[None]) -> None:
    if not arrived.done():
        arrived.set_result(None)


def _patience(timeout: float | None) -> float:
    return (READY_TIMEOUT + COMMAND_TIMEOUT if timeout is None else timeout) + GRACE


def _silent() -> LinkLost:
    return LinkLost("The host gave no sign in time: the Jupyter server is stopped, busy or out of reach.")


def _say(pending: PendingCall) -> None:
    if pending.note is not None:
        log.info("%s", pending.note)
