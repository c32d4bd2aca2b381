"""What a host asks its shell to do. The host itself does nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec


class Send(msgspec.Struct, frozen=True):
    peer: str
    message: Any


class WakeAt(msgspec.Struct, frozen=True):
    """Call `Host.wake` at this time, on the clock that the shell passes in; a later `WakeAt` takes its place."""

    at: float


Effect: TypeAlias = Send | WakeAt
