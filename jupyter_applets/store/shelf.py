"""All applets of one folder, the user's or the package's, listed from memory while nothing changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from ..errors import BrokenApplet, FileMissing, PathRefused
from ..workspace.beneath import open_file, open_folder
from ..workspace.failures import reason
from ..workspace.paths import Parts
from . import folder as folders
from .documents import AppJson, Meta, app_of, decode, meta_of
from .folder import APP, CORE, CSS, HTML, JS, META, STATE, Signature
from .slugs import RULE, is_slug, suggest

_PATHS = {"html": HTML, "js": JS, "css": CSS, "meta": META, "app": APP, "state": STATE}


class SavedApplet(msgspec.Struct, kw_only=True):
    slug: str
    meta: Meta
    app: AppJson
    html: str
    js: str
    css: str
    state: dict[str, Any]
    files: dict[str, bytes]
    """The author's other files, by their path in the folder."""
    shipped: bool
    version: str


def decoded(slug: str, files: dict[str, bytes], signature: Signature, *, shipped: bool) -> SavedApplet:
    """The applet that a folder's files are, or BrokenApplet with the first reason why they are none."""
    if HTML not in files and JS not in files:
        raise BrokenApplet(f"it has neither {HTML} nor {JS}.")
    if META not in files:
        raise BrokenApplet(f"{META} is missing, so it was not saved whole: save it again, or write one with a name.")
    meta = meta_of(decode(META, files[META]))
    return SavedApplet(
        slug=slug,
        meta=meta,
        app=app_of(decode(APP, files[APP])) if APP in files else AppJson(),
        html=_text(files, HTML),
        js=_text(files, JS),
        css=_text(files, CSS),
        state=decode(STATE, files[STATE]) if STATE in files else {},
        files={path: data for path, data in files.items() if path not in CORE},
        shipped=shipped,
        version=folders.version_of(signature),
    )


class Shelf:
    """Owns what is remembered of the applets, by slug, with the signature that it was read under."""

    def __init__(self, root: int, parts: Parts, path: str, sensitive: tuple[str, ...], *, shipped: bool) -> None:
        """The shelf stands at `parts` below the descriptor `root`, and at `path` for people."""
        self._root = root
        self._parts = parts
        self._path = path
        self._sensitive = sensitive
        self._shipped = shipped
        self._known: dict[str, tuple[Signature, dict[str, Any]]] = {}
        self._last: dict[str, dict[str, Any]] | None = None

    @contextmanager
    def opened(self, slug: str) -> Iterator[int]:
        """The folder's descriptor. A link is not followed, even one that stays inside: two slugs are two applets."""
        with self._opened() as shelf:
            folder = _open_plain(shelf, slug)
        try:
            yield folder
        finally:
            os.close(folder)

    def load(self, slug: str) -> SavedApplet:
        with self.opened(slug) as folder, folders.locked(folder, alone=False):
            signature = folders.scan(folder, self._sensitive)
            return decoded(slug, folders.read(folder, signature), signature, shipped=self._shipped)

    def content(self, slug: str) -> tuple[dict[str, bytes], str]:
        """The files as they are, and their version."""
        with self.opened(slug) as folder, folders.locked(folder, alone=False):
            signature = folders.scan(folder, self._sensitive)
            return folders.read(folder, signature), folders.version_of(signature)

    def version(self, slug: str) -> str:
        with self.opened(slug) as folder:
            return folders.version_of(folders.scan(folder, self._sensitive))

    def paths(self, slug: str) -> dict[str, str]:
        with self.opened(slug) as folder:
            return self._paths(slug, folders.scan(folder, self._sensitive))

    def slugs(self) -> list[str]:
        return [name for name in self._names() if is_slug(name, self._sensitive)]

    def entries(self) -> dict[str, dict[str, Any]]:
        """What is said of each applet in a list; never raises because of one."""
        found: dict[str, dict[str, Any]] = {}
        with suppress(FileMissing), self._opened() as shelf:
            found = {name: entry for name in self._names() if (entry := self._entry(shelf, name)) is not None}
        for gone in self._known.keys() - found.keys():
            self._known.pop(gone, None)
        self._last = found
        return found

    def refreshed(self, slug: str) -> dict[str, dict[str, Any]]:
        """The same, where only this one has changed since."""
        if self._last is None:
            return self.entries()
        found = dict(self._last)
        found.pop(slug, None)
        with suppress(FileMissing), self._opened() as shelf:
            entry = self._entry(shelf, slug)
            if entry is not None:
                found[slug] = entry
        self._last = found
        return found

    def exists(self) -> bool:
        with suppress(FileMissing), self._opened():
            return True
        return False

    def file(self, name: str, most: int) -> bytes | None:
        """The start of a file of the shelf itself."""
        with suppress(FileMissing), self._opened() as shelf, os.fdopen(open_file(shelf, (name,)), "rb") as file:
            return file.read(most)
        return None

    def _names(self) -> list[str]:
        with suppress(FileMissing), self._opened() as shelf, os.scandir(shelf) as found:
            return sorted(e.name for e in found if e.name[0] not in "._" and (e.is_symlink() or e.is_dir()))
        return []

    @contextmanager
    def _opened(self) -> Iterator[int]:
        shelf = open_folder(self._root, self._parts)
        try:
            yield shelf
        finally:
            os.close(shelf)

    def _entry(self, shelf: int, name: str) -> dict[str, Any] | None:
        signature: Signature = ()
        try:
            folder = _open_plain(shelf, name)
            try:
                signature = folders.scan(folder, self._sensitive)
                known = self._known.get(name)
                if known is not None and known[0] == signature:
                    return known[1]
                entry = self._read(folder, name, signature)
            finally:
                os.close(folder)
        except FileMissing:
            return None
        except (BrokenApplet, PathRefused) as e:
            entry = self._broken(name, e.message, signature)
        except OSError as e:
            entry = self._broken(name, f"it cannot be read: {reason(e)}.", signature)
        if entry is not None and signature:
            self._known[name] = (signature, entry)
        return entry

    def _read(self, folder: int, name: str, signature: Signature) -> dict[str, Any] | None:
        if not is_slug(name, self._sensitive):
            if not any(path in CORE for path, *_ in signature):
                return None
            better = suggest(name, self._sensitive)
            hint = f" Rename it, for instance to {better!r}." if better else " Rename it."
            raise BrokenApplet(f"the folder's name is no slug ({RULE}).{hint}")
        with folders.locked(folder, alone=False):
            applet = decoded(name, folders.read(folder, signature, CORE), signature, shipped=self._shipped)
        meta = applet.meta
        known = {"params": meta.params, "agentUsage": meta.agent_usage, "stateSchema": meta.state_schema}
        return {
            "slug": name,
            "name": meta.name or name,
            "description": meta.description,
            "updated": meta.updated,
            **{key: value for key, value in known.items() if value is not msgspec.UNSET},
            **({"fileAssociations": applet.app.file_associations} if applet.app.file_associations else {}),
            "shipped": self._shipped,
            "paths": self._paths(name, signature),
        }

    def _broken(self, name: str, why: str, signature: Signature) -> dict[str, Any]:
        # A name of bytes that are no text is shown, not sent on.
        shown = name.encode(errors="replace").decode()
        if why.startswith(("it", "the")):  # the names of files keep their case
            why = why[0].upper() + why[1:]
        return {"slug": shown, "broken": why, "paths": self._paths(shown, signature)}

    def _paths(self, name: str, signature: Signature) -> dict[str, str]:
        there = {path for path, *_ in signature}
        folder = f"{self._path}/{name}"
        return {"folder": folder, **{key: f"{folder}/{file}" for key, file in _PATHS.items() if file in there}}


def _open_plain(shelf: int, name: str) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=shelf)
    except FileNotFoundError:
        raise FileMissing(f"There is no folder {name!r}.") from None
    except NotADirectoryError:
        raise PathRefused("it is a link or a file, not a folder of its own.") from None


def _text(files: dict[str, bytes], name: str) -> str:
    try:
        return files.get(name, b"").decode().replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        raise BrokenApplet(f"{name} is not UTF-8 (byte {e.start}): save it as UTF-8 in an editor.") from None
