"""What people have allowed applets beyond what these declare, and the check of every request against it.

A permission is declared by the content, or was granted by a person for good (kept with the applet), or refused (for as
long as the window is there), or nobody has decided yet: then the page is to ask.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ..errors import PermissionDenied, PermissionNeeded
from ..protocol.base import Json
from .windows import Window

RunPolicy: TypeAlias = Literal["auto", "ask", "always"]
"""When an applet's code waits for a person: when no kernel of the user's vouches for it, whenever it is new, never."""

FILES = ("read", "write")


class Decisions:
    """The decisions of people, by applet: a saved one is known by its slug, another by its window."""

    def __init__(self, run: RunPolicy = "auto") -> None:
        self.run: RunPolicy = run
        self.all: dict[str, dict[str, Json]] = {}

    def granted(self, window: Window) -> dict[str, Json]:
        """What a page is told: grants, and false for what was refused."""
        return {**self.all.get(_key(window), {}), **dict.fromkeys(window.refused, False)}

    def permit(self, window: Window, permission: str, value: Json) -> bool:
        """A person decided. Tells whether that is to be kept."""
        if value is False or value is None:
            window.refused.add(permission)
            return False
        window.refused.discard(permission)
        mine = self.all.setdefault(_key(window), {})
        mine[permission] = _wider(mine.get(permission), value)
        return True

    def revoke(self, window: Window, permission: str | None) -> None:
        """Back to asking. Without a permission, in everything."""
        if permission is None:
            window.refused.clear()
            self.all.pop(_key(window), None)
            return
        window.refused.discard(permission)
        mine = self.all.get(_key(window), {})
        mine.pop(permission, None)
        if not mine:
            self.all.pop(_key(window), None)

    def forget(self, slug: str) -> bool:
        """The saved applet is gone, and with it what was allowed: another may get its name."""
        return self.all.pop(f"applet:{slug}", None) is not None

    def check_files(self, window: Window, verb: Literal["read", "write"], path: str) -> None:
        declared = window.content.permissions.get("files") if window.content is not None else None
        granted = self.all.get(_key(window), {}).get("files")
        if _covers(declared, verb) or _covers(granted, verb):
            return
        name = window.title or window.id
        what = f"read {path!r}" if verb == "read" else f"change {path!r}"
        if "files" in window.refused:
            raise PermissionDenied(f"{name} may not {what}: a person said no.")
        raise PermissionNeeded(
            f"{name} may not {what} before a person allows it, in the page, or its permissions say "
            f'{{"files": "{verb}"}}.'
        )

    def may_run(self, window: Window) -> bool:
        if self.run == "always" or self.all.get(_key(window), {}).get("run") is True:
            return True
        return self.run == "auto" and window.vouched


def _key(window: Window) -> str:
    return f"applet:{window.slug}" if window.slug else f"window:{window.session}#{window.id}"


def _covers(level: Any, verb: str) -> bool:
    return level in FILES and FILES.index(level) >= FILES.index(verb)


def _wider(held: Json, value: Json) -> Json:
    if isinstance(held, list) and isinstance(value, list):
        return [*held, *(item for item in value if item not in held)]
    if held in FILES and value in FILES:
        return FILES[max(FILES.index(held), FILES.index(value))]
    return value
