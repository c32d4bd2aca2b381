"""Small web apps in notebook outputs that kernel code and agents can read and drive.

The names load what they need when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors
    from .kernel.functions import app_command, app_query, close_window, list_windows
    from .widget.applet import Applet

__version__ = "0.1.0"

__all__ = ["Applet", "app_command", "app_query", "close_window", "errors", "list_windows"]

_HOMES = {
    "Applet": ".widget.applet",
    "app_command": ".kernel.functions",
    "app_query": ".kernel.functions",
    "close_window": ".kernel.functions",
    "list_windows": ".kernel.functions",
}


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module(".errors", __name__)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .server.extension import JupyterApplets

    return [{"module": "jupyter_applets", "app": JupyterApplets}]
