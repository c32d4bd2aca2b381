"""Tools on saved applets, and the reload of a window when the files of its applet change."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from ..errors import AppletError, NotShown
from ..host.host import Host, Later
from ..host.requests import Caller
from ..host.windows import Window
from ..protocol.base import Json
from ..protocol.link import AppletFile, Content
from ..protocol.tools import DeleteApplet, LoadApplet, NoArguments, ReadApplet, SaveApplet
from ..store.applets import SavedApplet
from .registry import tool
from .services import Services
from .windows import find, shown, target

_IN_FOLDER = "applet:/"


def content_of(saved: SavedApplet) -> Content:
    """What a window shows of a saved applet."""
    return Content(
        html=saved.html,
        js=saved.js,
        css=saved.css,
        title=saved.meta.name,
        permissions=saved.app.permissions,
        modules={name: f"{_IN_FOLDER}{path.removeprefix('./')}" for name, path in saved.app.modules.items()},
        height=saved.app.height,
        app_protocol=saved.app.app_protocol,
        slug=saved.slug,
        files={path: _file(data) for path, data in saved.files.items()},
    )


def _file(data: bytes) -> AppletFile:
    try:
        return AppletFile(text=data.decode())
    except UnicodeDecodeError:
        return AppletFile(base64=base64.b64encode(data).decode())


def _bytes(file: AppletFile) -> bytes:
    return base64.b64decode(file.base64) if file.base64 is not None else (file.text or "").encode()


@tool
def save_applet(host: Host, caller: Caller, given: SaveApplet, timeout: float | None) -> Later:
    window = find(host, caller, given.window_id, given.session)
    content = window.content
    if content is None:
        raise NotShown(f"The content of window {window.id!r} is not known here: run the cell that makes it again.")
    state = host.showing.kept(window)

    def work(services: Services) -> tuple[SavedApplet, Json]:
        saved = services.store.save(
            given.slug,
            html=content.html,
            js=content.js,
            css=content.css,
            state=state,
            name=given.name or content.title or None,
            description=given.description,
            app_protocol=content.app_protocol,
            permissions=content.permissions if given.permissions is None else given.permissions,
            modules=content.modules,
            files={path: _bytes(file) for path, file in content.files.items()},
            height=content.height,
        )
        [paths] = [entry["paths"] for entry in services.store.list() if entry["slug"] == saved.slug]
        return saved, paths

    revision = window.revision

    def done(outcome: Any) -> None:
        if isinstance(outcome, AppletError):
            return host.reply(caller, outcome)
        saved, paths = outcome
        if window.revision == revision:
            # The window now shows the saved applet: an edit of its files reloads it.
            host.became(window, content_of(saved))
        return host.reply(
            caller, {"slug": saved.slug, "name": saved.meta.name, "updated": saved.meta.updated, "paths": paths}
        )

    return host.perform(work, done)


@tool
def load_applet(host: Host, caller: Caller, given: LoadApplet, timeout: float | None) -> Later:
    def done(saved: Any) -> None:
        if isinstance(saved, AppletError):
            return host.reply(caller, saved)
        window_id = target(host, caller, given.window_id)
        window = host.show(caller, window_id, None, content_of(saved), state=saved.state, session=given.session)
        return host.reply(caller, {**shown(host, window), "slug": saved.slug})

    return host.perform(lambda services: services.store.load(given.slug), done)


@tool
def read_applet(host: Host, caller: Caller, given: ReadApplet, timeout: float | None) -> Later:
    def done(saved: Any) -> None:
        if isinstance(saved, AppletError):
            return host.reply(caller, saved)
        return host.reply(caller, {"content": msgspec.to_builtins(content_of(saved)), "state": saved.state})

    return host.perform(lambda services: services.store.load(given.slug), done)


@tool
def list_applets(host: Host, caller: Caller, _: NoArguments, timeout: float | None) -> Later:
    return host.perform(lambda services: services.store.list(), lambda found: host.reply(caller, found))


@tool
def delete_applet(host: Host, caller: Caller, given: DeleteApplet, timeout: float | None) -> Later:
    def done(moved: Any) -> None:
        if isinstance(moved, AppletError):
            return host.reply(caller, moved)
        if host.decisions.forget(given.slug):
            host.keep_decisions()
        return host.reply(caller, {"slug": given.slug, "movedTo": moved})

    return host.perform(lambda services: services.store.delete(given.slug), done)


# ---- the files of a saved applet change


def on_file_changed(host: Host, path: str) -> None:
    """An editor has saved: the windows that show the applet get the new document, with the state of the old one."""
    for slug in {window.slug for window in host.windows if window.slug}:
        if f"/{slug}/" in f"/{path}":
            _reload(host, slug)


def _reload(host: Host, slug: str) -> None:
    def done(saved: Any) -> None:
        for window in [w for w in host.windows if w.slug == slug]:
            if isinstance(saved, AppletError):
                _note_once(host, window, f"The changed files were not loaded: {saved.message}")
            elif window.content != (content := content_of(saved)):
                host.reload(window, content)

    host.perform(lambda services: services.store.load(slug), done)


def _note_once(host: Host, window: Window, text: str) -> None:
    if text not in window.noted:
        window.noted.add(text)
        host.note(window, "warn", text)
