"""What people have allowed applets beyond what these declare, and the check of every request against it.

A permission is declared by the content, or was granted by a person for good (kept with the applet), or refused (for as
long as the window is there), or nobody has decided yet: then the page is to ask.

What was granted to a window that is no saved applet is granted to what it shows: another content has to ask again.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, TypeAlias

import msgspec

from ..errors import PermissionDenied, PermissionNeeded
from ..protocol.base import Json
from .windows import Window

RunPolicy: TypeAlias = Literal["auto", "ask", "always"]
"""When an applet's code waits for a person: when no kernel of the user's vouches for it, whenever it is new, never."""

FILES = ("read", "write")

_CONTENT = "content"
"""Beside a window's grants: the digest of the content that they are for."""

MAX_KEPT = 2_000
"""Of more, those of windows go, the oldest first: their applets ask again."""


class Decisions:
    """The decisions of people, by applet: a saved one is known by its slug, another by its window."""

    def __init__(self, run: RunPolicy = "auto") -> None:
        self.run: RunPolicy = run
        self.all: dict[str, dict[str, Json]] = {}
        self._changed: set[str] = set()

    def take_changes(self) -> dict[str, dict[str, Json] | None]:
        """What is to be kept anew, by applet; None for what is no more."""
        changed, self._changed = self._changed, set()
        return {key: self.all.get(key) for key in changed}

    def granted(self, window: Window) -> dict[str, Json]:
        """What a page is told: grants, and false for what was refused."""
        return {**dict.fromkeys(sorted(window.refused), False), **self._held(window)}

    def permit(self, window: Window, permission: str, value: Json) -> bool:
        """A person decided. Tells whether that is to be kept."""
        if value is False or value is None:
            window.refused.add(permission)
            return False
        window.refused.discard(permission)
        held = self._held(window)
        self._hold(window, {**held, permission: _wider(held.get(permission), value)})
        return True

    def revoke(self, window: Window, permission: str | None) -> None:
        """Back to asking. Without a permission, in everything."""
        if permission is None:
            window.refused.clear()
            self._hold(window, {})
            return
        window.refused.discard(permission)
        self._hold(window, {name: value for name, value in self._held(window).items() if name != permission})

    def carry(self, window: Window, slug: str) -> bool:
        """What the window shows is being saved: what it was granted goes with it. Tells whether there is any."""
        if slug == window.slug:
            return False
        # What another applet of that name was granted is not this one's.
        held = self._held(window)
        forgotten = self.forget(slug)
        if held:
            self._set(f"applet:{slug}", dict(held))
        return forgotten or bool(held)

    def forget(self, slug: str) -> bool:
        """The saved applet is gone, and with it what was allowed: another may get its name."""
        return self._set(f"applet:{slug}", {})

    def check_files(self, window: Window, verb: Literal["read", "write"], path: str) -> None:
        declared = window.content.permissions.get("files") if window.content is not None else None
        granted = self._held(window).get("files")
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

    def check_agent(self, window: Window) -> None:
        """Raise unless the applet may speak with the agent."""
        declared = window.content.permissions.get("agent") if window.content is not None else None
        if "agent" in window.refused:
            raise PermissionDenied(f"{window.title or window.id} may not speak with the agent: a person said no.")
        if declared is not True and self._held(window).get("agent") is not True:
            raise PermissionNeeded(
                f"{window.title or window.id} may not speak with the agent before a person allows it, in the page, or "
                'its permissions say {"agent": true}.'
            )

    def may_read(self, window: Window) -> bool:
        declared = window.content.permissions.get("files") if window.content is not None else None
        return _covers(declared, "read") or _covers(self._held(window).get("files"), "read")

    def may_run(self, window: Window) -> bool:
        if self.run == "always" or (self.run == "auto" and window.vouched):
            return True
        return self._held(window).get("run") is True

    def _held(self, window: Window) -> dict[str, Json]:
        """The grants that count for what the window shows."""
        if window.slug:
            return self.all.get(_key(window), {})
        digest = _digest(window)
        if digest is None:
            return window.granted
        held = self.all.get(_key(window), {})
        return {name: v for name, v in held.items() if name != _CONTENT} if held.get(_CONTENT) == digest else {}

    def _hold(self, window: Window, grants: dict[str, Json]) -> None:
        digest = None if window.slug else _digest(window)
        if not window.slug and digest is None:
            # Nobody here knows what it shows: it holds while the window does.
            window.granted = grants
        else:
            self._set(_key(window), {**grants, _CONTENT: digest} if grants and digest else grants)

    def _set(self, key: str, grants: dict[str, Json]) -> bool:
        """Tells whether anything changed."""
        if self.all.get(key, {}) == grants:
            return False
        self.all.pop(key, None)
        if grants:
            self.all[key] = grants
        self._changed.add(key)
        for old in [k for k in self.all if k.startswith("window:")][: max(0, len(self.all) - MAX_KEPT)]:
            del self.all[old]
            self._changed.add(old)
        return True


def _key(window: Window) -> str:
    return f"applet:{window.slug}" if window.slug else f"window:{window.session}#{window.id}"


def _digest(window: Window) -> str | None:
    """Of all that runs; None where only a page knows it."""
    content = window.content
    if content is None:
        return None
    running = (content.html, content.js, content.css, content.modules, content.files)
    return hashlib.blake2b(msgspec.json.encode(running), digest_size=16).hexdigest()


def _covers(level: Any, verb: str) -> bool:
    return level in FILES and FILES.index(level) >= FILES.index(verb)


def _wider(held: Json, value: Json) -> Json:
    if isinstance(held, list) and isinstance(value, list):
        return [*held, *(item for item in value if item not in held)]
    if held in FILES and value in FILES:
        return FILES[max(FILES.index(held), FILES.index(value))]
    return value
