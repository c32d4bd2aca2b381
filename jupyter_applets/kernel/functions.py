"""The tools as functions of the kernel, for any window of this server, whoever opened it."""

from __future__ import annotations

from typing import Any

from ..protocol.app import CONSOLE_KEY
from ..protocol.base import Json
from .connection import connection


def app_query(window_id: str, state_key: str, *, timeout: float | None = None, session: str | None = None) -> Json:
    """Read a state key of the applet in a window; `"manifest"` tells what there is.

    It blocks, and works in a busy cell. The default timeout is 5 seconds.
    """
    arguments = _arguments(windowId=window_id, stateKey=state_key, session=session)
    instead = None if state_key == CONSOLE_KEY else f"<applet>.aquery({state_key!r})"
    return connection().call(window_id, "app_query", arguments, timeout, instead)


def app_command(
    window_id: str,
    command: str,
    params: dict[str, Json] | None = None,
    *,
    timeout: float | None = None,
    session: str | None = None,
) -> Json:
    """Run a command of the applet in a window and give back its result.

    It blocks, and works in a busy cell. The default timeout is 30 seconds.
    """
    arguments = _arguments(windowId=window_id, command=command, params=params, session=session)
    return connection().call(window_id, "app_command", arguments, timeout, f"<applet>.acommand({command!r}, …)")


def list_windows() -> list[dict[str, Any]]:
    """All windows that the host knows: `windowId`, `session`, `title`, `renderer`, `views`, `ready`."""
    found: list[dict[str, Any]] = connection().call("", "list_windows", {})
    return found


def close_window(window_id: str, *, session: str | None = None) -> None:
    """Close a window wherever it is shown."""
    connection().call(window_id, "close_window", _arguments(windowId=window_id, session=session))


def _arguments(**given: Json) -> dict[str, Json]:
    return {name: value for name, value in given.items() if value is not None}
