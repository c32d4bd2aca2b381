"""Turns Nagle's algorithm off on Jupyter's own kernel sockets, by a subclass of whatever connection class is in use."""

from __future__ import annotations

from typing import Any


def without_delay(connection_class: type[Any]) -> type[Any]:
    """The same class, whose connections send each frame at once."""

    class NoDelayConnection(connection_class):  # type: ignore[misc]
        async def connect(self) -> Any:
            # tornado turns the algorithm on again after the upgrade, so this is the first moment that counts.
            self.websocket_handler.set_nodelay(True)
            return await super().connect()

    return NoDelayConnection
