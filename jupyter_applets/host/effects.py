"""What a host asks its shell to do. The host itself does nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec


class Send(msgspec.Struct, frozen=True):
    peer: str
    message: Any


class WakeAt(msgspec.Struct, frozen=True):
    """Call `Host.wake` at this time, on the clock that the shell passes in; a later `WakeAt` takes its place."""

    at: float


class Perform(msgspec.Struct, frozen=True):
    """Do `work(services)` off the loop, then hand its outcome, a value or an AppletError, to `Host.performed`.

    What is `ordered` is done one after the other, as asked for; what is not, and `Stream`, after what is and came
    before from the same `peer`.
    """

    work: Callable[[Any], Any]
    done: Callable[[Any], None]
    ordered: bool = True
    peer: str | None = None


class Stream(msgspec.Struct, frozen=True):
    """Send a peer what `work(services)` yields, each when it took the one before, then `failed(error)` if it fails."""

    peer: str
    work: Callable[[Any], Iterator[Any]]
    failed: Callable[[Any], Any]


class Watch(msgspec.Struct, frozen=True):
    """Call `Host.file_changed` when something happens at this path, or, for the `tree`, at any saved applet."""

    path: str
    tree: bool = False
    done: Callable[[Any], None] | None = None
    """Hears, by `Host.watched`, that from now on nothing is missed (None), or why it cannot be watched."""


class Unwatch(msgspec.Struct, frozen=True):
    path: str
    tree: bool = False


class Tell(msgspec.Struct, frozen=True):
    """Something happened of which whoever awaits `Driver.news(topic)` wants to know."""

    topic: str


Effect: TypeAlias = Send | WakeAt | Perform | Stream | Watch | Unwatch | Tell
