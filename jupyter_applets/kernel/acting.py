"""Which turn of an agent the running code belongs to: calls that it makes are made in that turn."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

from ..errors import Cancelled


class Acting(Protocol):
    stream_id: str
    cancelled: bool

    def flush(self) -> None:
        """Send the text that waits: what is done now comes after it."""


current: ContextVar[Acting | None] = ContextVar("jupyter_applets_turn", default=None)


def turn_id() -> str | None:
    """The turn of this context; its text goes out before whatever is called now."""
    acting = current.get()
    if acting is None:
        return None
    if acting.cancelled:
        raise Cancelled("The turn was cancelled: what its agent does now is for nobody.")
    acting.flush()
    return acting.stream_id
