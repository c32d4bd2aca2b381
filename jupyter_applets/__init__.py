"""Small web apps in notebook outputs that kernel code and agents can read and drive.

The names load what they need when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors, tools
    from .kernel.agents import agent
    from .kernel.toolbox import (
        app_command,
        app_query,
        close_window,
        delete_applet,
        get_applet_logs,
        get_applet_state,
        get_messages,
        list_applets,
        list_files,
        list_sessions,
        list_windows,
        load_applet,
        read_file,
        save_applet,
        send_message,
        set_applet_content,
        set_applet_state,
        write_file,
    )
    from .widget.applet import Applet
    from .widget.chat import Chat
    from .widget.desk import Desk

__version__ = "0.1.0"

__all__ = [
    "Applet",
    "Chat",
    "Desk",
    "agent",
    "app_command",
    "app_query",
    "close_window",
    "delete_applet",
    "errors",
    "get_applet_logs",
    "get_applet_state",
    "get_messages",
    "list_applets",
    "list_files",
    "list_sessions",
    "list_windows",
    "load_applet",
    "read_file",
    "save_applet",
    "send_message",
    "set_applet_content",
    "set_applet_state",
    "tools",
    "write_file",
]

_MODULES = ("errors", "tools")
_HOMES = {
    "Applet": ".widget.applet",
    "Chat": ".widget.chat",
    "Desk": ".widget.desk",
    "agent": ".kernel.agents",
}
"""Where a name is; all that are not here are tools."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    return getattr(import_module(_HOMES.get(name, ".kernel.toolbox"), __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .server.extension import JupyterApplets

    return [{"module": "jupyter_applets", "app": JupyterApplets}]
