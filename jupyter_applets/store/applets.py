"""Saved applets, a folder each: `save`, `load`, `list`, `delete`. The user's own come before those of the package."""

from __future__ import annotations

import builtins
import logging
import os
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from ..errors import AppletError, AppletNotFound, BrokenApplet, FileMissing, PathRefused, StoreError, VersionConflict
from ..workspace.audit import stamp
from ..workspace.beneath import make_folder, open_root
from ..workspace.failures import worded
from ..workspace.files import Workspace
from ..workspace.paths import Parts
from . import folder as folders
from . import saving, trash
from .documents import state_bytes
from .folder import HTML, JS, META, STATE
from .shelf import SavedApplet, Shelf, decoded
from .slugs import check_slug

__all__ = ["AppletStore", "SavedApplet"]

INDEX = "_index.json"
SHIPPED = Path(__file__).parents[1] / "shipped"

_log = logging.getLogger(__name__)


class AppletStore:
    """Owns the order of saves within a process. Its methods block, and may be called from any thread."""

    def __init__(self, workspace: Workspace, shipped: Path | None = None) -> None:
        self._workspace = workspace
        sensitive = workspace.sensitive
        path = "/".join([workspace.root.rstrip("/"), *workspace.applets])
        self._own = Shelf(workspace.descriptor, workspace.applets, path, sensitive, shipped=False)
        shipped = shipped or SHIPPED
        self._shipped: Shelf | None = None
        if shipped.is_dir():
            root = open_root(str(shipped))
            weakref.finalize(self, os.close, root)
            self._shipped = Shelf(root, (), str(shipped), sensitive, shipped=True)
        self._writing = threading.RLock()

    def load(self, slug: str) -> SavedApplet:
        check_slug(slug, self._workspace.sensitive)
        for shelf in self._shelves():
            with worded(f"load the applet {slug!r}"), suppress(FileMissing):
                try:
                    return shelf.load(slug)
                except (BrokenApplet, PathRefused) as e:
                    raise BrokenApplet(f"The applet {slug!r} cannot be loaded: {e.message}") from None
        raise self._not_found(slug)

    def version(self, slug: str) -> str | None:
        """What `load` would give as its version; None when there is no such applet."""
        check_slug(slug, self._workspace.sensitive)
        for shelf in self._shelves():
            with worded(f"look at the applet {slug!r}"), suppress(FileMissing):
                return shelf.version(slug)
        return None

    def list(self) -> builtins.list[dict[str, Any]]:
        """What there is, by slug; the broken ones too, with the reason. The index is brought up to date."""
        with worded("list the applets"):
            own = self._own.entries()
            self._write_index(own)
            found = {**(self._shipped.entries() if self._shipped else {}), **own}
        return [dict(found[slug]) for slug in sorted(found)]

    def paths(self, slug: str) -> dict[str, str]:
        """Where the files of an applet are, as `list` says it."""
        check_slug(slug, self._workspace.sensitive)
        for shelf in self._shelves():
            with worded(f"look at the applet {slug!r}"), suppress(FileMissing):
                return shelf.paths(slug)
        raise self._not_found(slug)

    def save(
        self,
        slug: str,
        *,
        html: str,
        js: str = "",
        css: str = "",
        state: Mapping[str, Any] | None = None,
        name: str | None = None,
        description: str | None = None,
        app_protocol: bool | None = None,
        permissions: Mapping[str, Any] | None = None,
        height: int | str | None = None,
        modules: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        if_match: str | None = None,
        now: datetime | None = None,
    ) -> SavedApplet:
        """Make the folder hold this applet, writing what differs only. What is None stays as it is.

        `modules` are all of the applet's, by the name that scripts import: sources, or `applet:/` and a file's path
        in the folder. `files` are added to those of the folder.
        """

        declared = None if permissions is None else dict(permissions)
        app = {"appProtocol": app_protocol, "height": height, "permissions": declared}
        app = {key: value for key, value in app.items() if value is not None}

        def wanted(base: saving.Files) -> saving.Wanted:
            return saving.content(
                base,
                html=html,
                js=js,
                css=css,
                state=state,
                app=app,
                modules=modules,
                files=files,
            )

        return self._change(slug, wanted, {"name": name, "description": description}, if_match, now)

    def save_state(self, slug: str, state: Mapping[str, Any], *, now: datetime | None = None) -> SavedApplet:
        """Keep the state alone. Of an applet that came with the package this makes the user's own copy."""
        if self.version(slug) is None:
            raise self._not_found(slug)
        return self._change(slug, lambda base: {STATE: state_bytes(state)}, {}, None, now)

    def delete(self, slug: str, if_match: str | None = None) -> str:
        """Move the folder away; gives the path, from the root, where it can be taken back from."""
        check_slug(slug, self._workspace.sensitive)
        with self._writing, worded(f"delete the applet {slug!r}"):
            try:
                with suppress(BrokenApplet, PathRefused):
                    _match(slug, if_match, self._own.version(slug))
                kept = trash.take(self._workspace, slug)
            except FileMissing:
                if self._shipped and slug in self._shipped.slugs():
                    raise StoreError(f"The applet {slug!r} comes with the package and cannot be deleted.") from None
                raise self._not_found(slug) from None
            self._write_index(self._own.refreshed(slug))
        return kept

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _shelves(self) -> builtins.list[Shelf]:
        return [self._own, *([self._shipped] if self._shipped else [])]

    def _not_found(self, slug: str) -> AppletNotFound:
        names = sorted({slug for shelf in self._shelves() for slug in shelf.slugs()})
        saved = f"Saved are: {', '.join(names[:40])}." if names else "None is saved yet."
        return AppletNotFound(f"No applet is saved as {slug!r}. {saved}", names)

    def _change(
        self, slug: str, wanted: saving.Change, meta: Mapping[str, Any], if_match: str | None, now: datetime | None
    ) -> SavedApplet:
        check_slug(slug, self._workspace.sensitive)
        at = stamp(now or datetime.now(timezone.utc))
        given = {key: value for key, value in meta.items() if value is not None}
        with self._writing, worded(f"save the applet {slug!r}"):
            try:
                try:
                    saved = self._change_own(slug, wanted, given, if_match, at)
                except FileMissing:
                    saved = self._make_own(slug, wanted, given, if_match, at)
            except BrokenApplet as e:
                raise BrokenApplet(f"The applet {slug!r} cannot be saved: {e.message}") from None
            self._write_index(self._own.refreshed(slug))
        return saved

    def _change_own(
        self, slug: str, wanted: saving.Change, given: Mapping[str, Any], if_match: str | None, at: str
    ) -> SavedApplet:
        with self._own.opened(slug) as folder, folders.locked(folder, alone=True):
            signature = folders.scan(folder, self._workspace.sensitive)
            _match(slug, if_match, folders.version_of(signature))
            before = folders.read(folder, signature)
            changed = saving.changes(slug, before, before, wanted(before), given, at)
            return self._apply(slug, folder, before, changed)

    def _make_own(
        self, slug: str, wanted: saving.Change, given: Mapping[str, Any], if_match: str | None, at: str
    ) -> SavedApplet:
        base: dict[str, bytes] = {}
        version = None
        if self._shipped:
            with suppress(FileMissing):
                base, version = self._shipped.content(slug)
        _match(slug, if_match, version)
        changed = saving.changes(slug, {}, base, wanted(base), given, at)
        os.close(make_folder(self._workspace.descriptor, (*self._workspace.applets, slug)))
        with self._own.opened(slug) as folder, folders.locked(folder, alone=True):
            return self._apply(slug, folder, {}, changed)

    def _apply(self, slug: str, folder: int, before: saving.Files, changed: saving.Wanted) -> SavedApplet:
        after = {path: data for path, data in {**before, **changed}.items() if data is not None}
        folders.check_sizes({path: len(data) for path, data in after.items()})
        backups = self._workspace.backups
        above = (*self._workspace.applets, slug)
        anew = HTML in changed or JS in changed

        def keep(place: int, parts: Parts, found: os.stat_result) -> None:
            name = "/".join(parts)
            # Of these two each save makes another. They are worth keeping when nobody can read them any more, and the
            # state also when another applet may be taking the folder.
            routine = name == META or (name == STATE and not anew)
            routine = routine and saving.document(before, name) is not None
            if backups is not None and not routine:
                backups.keep(place, (*above, *parts), found)

        if changed:
            folders.apply(folder, folders.Change(changed, before), keep)
        return decoded(slug, after, folders.scan(folder, self._workspace.sensitive), shipped=False)

    def _write_index(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """The list as a file, for people and for git: written when it differs only. It is nobody's only copy."""
        whole = [entries[slug] for slug in sorted(entries) if "broken" not in entries[slug]]
        keys = ("slug", "name", "description", "updated")
        index = {"applets": [{key: entry[key] for key in keys} for entry in whole]}
        data = msgspec.json.format(msgspec.json.encode(index), indent=2) + b"\n"
        try:
            if data != self._own.file(INDEX, len(data) + 1) and (whole or self._own.exists()):
                self._workspace.put((*self._workspace.applets, INDEX), data, backup=False)
        except AppletError as e:
            _log.warning("The index of applets was not written: %s", e.message)


def _match(slug: str, wanted: str | None, version: str | None) -> None:
    if not wanted:
        return
    if version is None:
        raise VersionConflict(f"The applet {slug!r} is not there any more.")
    if wanted not in ("*", version):
        raise VersionConflict(f"The applet {slug!r} was changed by someone else: load it again before saving.")
