"""Which turn of an agent the running code belongs to: calls that it makes are made in that turn."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol


class Acting(Protocol):
    stream_id: str

    def flush(self) -> None:
        """Send the text that waits: what is done now comes after it."""


current: ContextVar[Acting | None] = ContextVar("jupyter_applets_turn", default=None)


def turn_id() -> str | None:
    """The turn of this context; its text goes out before whatever is called now."""
    acting = current.get()
    if acting is None:
        return None
    acting.flush()
    return acting.stream_id
