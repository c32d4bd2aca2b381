"""The permissions that an applet declares: what each may be. A slip of the pen grants nothing, and is told.

Origins are not looked at here: the page shows which of them no policy can express.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMS = {
    "files": '"read" or "write"',
    "clipboard": "True or False",
    "agent": "True or False",
}


def fault(permissions: Mapping[str, Any]) -> str | None:
    """What is wrong with them, as a sentence; None when nothing is. Names that we do not know are for other hosts."""
    for name, value in permissions.items():
        if name in FORMS:
            if value not in (None, False) and not _is_right(name, value):
                return f"permissions[{name!r}] is {FORMS[name]}, not {value!r}."
        elif name != "network" and (meant := _meant(name)):
            return f"There is no permission {name!r}: did you mean {meant!r}?"
    return None


def _is_right(name: str, value: Any) -> bool:
    return value in ("read", "write") if name == "files" else value is True


def _meant(name: str) -> str | None:
    import difflib  # slow to load, and seldom needed

    return next(iter(difflib.get_close_matches(name, [*FORMS, "network"], 1, 0.75)), None)
