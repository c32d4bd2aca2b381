"""Waits for a call's reply: blocking, as in a busy cell, or awaiting.

The deadline is the host's to decide. The wait here only ends later by itself when the host has gone silent.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging

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
    try:
        done, _ = await asyncio.wait([asyncio.wrap_future(pending)], timeout=_patience(timeout))
    except asyncio.CancelledError:
        link.cancel(pending)
        raise
    if not done:
        link.cancel(pending)
        raise _silent()
    value = done.pop().result()
    _say(pending)
    return value


def _patience(timeout: float | None) -> float:
    return (READY_TIMEOUT + COMMAND_TIMEOUT if timeout is None else timeout) + GRACE


def _silent() -> LinkLost:
    return LinkLost("The host gave no sign in time: the Jupyter server is stopped, busy or out of reach.")


def _say(pending: PendingCall) -> None:
    if pending.note is not None:
        log.info("%s", pending.note)
