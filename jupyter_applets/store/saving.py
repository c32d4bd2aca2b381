"""What a save makes of a folder's files: pure, from the bytes before to those after. Equal content stays untouched."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..errors import BrokenApplet, PathRefused, StoreError
from ..workspace.paths import parse
from .documents import app_bytes, app_of, decode, meta_bytes, meta_of, same, state_bytes
from .folder import APP, CORE, CSS, HTML, JS, META, STATE

Files: TypeAlias = Mapping[str, bytes]
Wanted: TypeAlias = "dict[str, bytes | None]"
"""The files that are to be, and (None) those that are to go."""

Change: TypeAlias = "Callable[[Files], Wanted]"

IN_FOLDER = "applet:/"
"""A module that is given as this and a path is a file of the folder already, and not a source."""

_MAX_MODULE_NAME = 60


def content(
    base: Files,
    *,
    html: str,
    js: str,
    css: str,
    state: Mapping[str, Any] | None,
    app: Mapping[str, Any],
    modules: Mapping[str, str] | None,
    files: Files | None,
) -> Wanted:
    """The files of an applet, all but meta.json. `app` holds the keys of app.json that are given."""
    declared = document(base, APP)
    declared = {**({"appProtocol": True} if declared is None else declared), **app}
    wanted: Wanted = {checked(path): data for path, data in (files or {}).items()}
    if modules is not None:
        known = declared.get("modules", {})
        placed = {name: _place(name, source, known) for name, source in modules.items()}
        # A module that is named no longer goes, if its file was ours to begin with.
        left = set(known.values()) - set(placed.values())
        wanted |= {path: None for path in left if path.startswith("modules/") and path in base}
        sources = {name: source for name, source in modules.items() if not source.startswith(IN_FOLDER)}
        wanted |= {placed[name]: _lines(source) for name, source in sources.items()}
        if modules or "modules" in declared:
            declared["modules"] = placed
    wanted |= {HTML: _lines(html), JS: _lines(js) or None, CSS: _lines(css) or None, APP: app_bytes(declared)}
    if state is not None:
        wanted[STATE] = state_bytes(state)
    return wanted


def changes(slug: str, before: Files, base: Files, wanted: Wanted, given: Mapping[str, Any], now: str) -> Wanted:
    """What must be written, meta.json last; nothing when all is as wanted already.

    `base` is what stays where nothing else is wanted: the folder as it is, or the package's applet as a copy.
    """
    if STATE in base and STATE not in wanted and document(base, STATE) is None:
        wanted = {**wanted, STATE: None}
    after = {**base, **wanted}
    changed = {p: data for p, data in after.items() if p != META and not _equal(p, before.get(p), data)}
    known = document(before, META)
    meta: dict[str, Any] = {
        "name": slug,
        "description": "",
        "created": now,
        "updated": now,
        **(document(base, META) or {}),
        **given,
    }
    if changed or known is None or not same(known, {**known, **given}):
        changed[META] = meta_bytes({**meta, "updated": now})
    return changed


def document(files: Files, name: str) -> dict[str, Any] | None:
    """One of the JSON files; None when it is missing, or broken and to be made anew."""
    if name not in files:
        return None
    try:
        found = decode(name, files[name])
        if name == META:
            meta_of(found)
        elif name == APP:
            app_of(found)
    except BrokenApplet:
        return None
    return found


def checked(path: str) -> str:
    """A file's path in an applet's folder, as it will be seen there."""
    parts = parse(path, "/")
    if path.startswith("/") or not parts or any(name.startswith(".") for name in parts):
        raise PathRefused(f"{path!r} is not the path of a file in an applet's folder.")
    if "/".join(parts) in CORE:
        raise PathRefused(f"{path!r} is one of the applet's own files, and is not given as another.")
    return "/".join(parts)


def _place(name: str, source: str, known: Mapping[str, str]) -> str:
    """Where a module's source stands: in the file it has already, else in one named after it."""
    if source.startswith(IN_FOLDER):
        return checked(source.removeprefix(IN_FOLDER))
    if name in known:
        try:
            return checked(known[name])
        except PathRefused:
            pass
    safe = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")[:_MAX_MODULE_NAME]
    if safe == name:
        try:
            return checked(f"modules/{safe}.mjs")
        except PathRefused:  # `con`, and no name at all
            safe = "module"
    # Names that differ in what a file name cannot hold must not meet in one file.
    mark = hashlib.blake2s(name.encode(errors="replace"), digest_size=4).hexdigest()
    return checked(f"modules/{safe or 'module'}-{mark}.mjs")


def _lines(text: str) -> bytes:
    try:
        return re.sub(r"\r+\n", "\n", text).encode()
    except UnicodeEncodeError:
        raise StoreError("The text holds half of a character pair, which cannot be saved as UTF-8.") from None


def _equal(path: str, before: bytes | None, after: bytes | None) -> bool:
    if before == after:
        return True
    if before is None or after is None:
        return False
    if path in (APP, STATE):
        known = document({path: before}, path)
        return known is not None and same(known, decode(path, after))
    # An editor on Windows, or git, may have put other line ends into what is the same text.
    return path in (HTML, JS, CSS) and before.replace(b"\r\n", b"\n") == after
