"""WindowOwner: what the kernel's end needs of a widget that shows a window."""

from __future__ import annotations

from typing import Any, Protocol


class WindowOwner(Protocol):
    """A widget with a window. Its methods are called from any thread."""

    window_id: str

    def open_window(self) -> None:
        """Give the window to the host, as after a connection that was cut."""

    def take_notice(self, notice: Any) -> None:
        """The host has something to say of the window."""

    def flush(self) -> None:
        """Send what was pushed and not sent: a call is about to be made."""

    def put_on_comm(self, content: dict[str, Any]) -> None:
        """Send to the widget's views."""
