"""Tools on saved applets, and the reload of a window when the files of its applet change."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from ..errors import AppletError, InvalidArguments, NotShown
from ..host.host import Host, Later
from ..host.requests import Caller
from ..host.windows import Window
from ..protocol.base import Json
from ..protocol.link import AppletFile, Content
from ..protocol.permissions import fault
from ..protocol.tools import DeleteApplet, LoadApplet, NoArguments, ReadApplet, SaveApplet
from ..store.applets import SavedApplet
from ..workspace.audit import Actor
from .registry import tool
from .services import Services
from .windows import find, shown, window_of

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
    if wrong := fault(given.permissions or {}):
        raise InvalidArguments(wrong)
    state = host.showing.kept(window)

    actor = Actor("kernel", host.session_of(caller), window.id)

    def work(services: Services) -> tuple[SavedApplet, Json]:
        with services.logged("save", given.slug, actor):
            return save(services), services.store.paths(given.slug)

    def save(services: Services) -> SavedApplet:
        return services.store.save(
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

    def done(outcome: tuple[SavedApplet, Json]) -> Json:
        saved, paths = outcome
        if window.content is content:
            # The window now shows the saved applet: an edit of its files reloads it.
            host.became(window, content_of(saved))
        return {"slug": saved.slug, "name": saved.meta.name, "updated": saved.meta.updated, "paths": paths}

    return host.answer(caller, work, done)


@tool
def load_applet(host: Host, caller: Caller, given: LoadApplet, timeout: float | None) -> Later:
    # Who asks is known now; it may be gone when the applet is there.
    session = host.session_of(caller) if given.session is None else given.session
    vouched = host.vouches(caller)

    def done(saved: SavedApplet) -> Json:
        name = given.window_id or window_of(host, session, saved.slug)
        window = host.show(name, None, content_of(saved), state=saved.state, session=session, vouched=vouched)
        return {**shown(host, window), "slug": saved.slug}

    return host.answer(caller, lambda services: services.store.load(given.slug), done)


@tool
def read_applet(host: Host, caller: Caller, given: ReadApplet, timeout: float | None) -> Later:
    def done(saved: SavedApplet) -> Json:
        return {"content": msgspec.to_builtins(content_of(saved)), "state": saved.state}

    return host.answer(caller, lambda services: services.store.load(given.slug), done)


@tool
def list_applets(host: Host, caller: Caller, _: NoArguments, timeout: float | None) -> Later:
    return host.answer(caller, lambda services: services.store.list())


@tool
def delete_applet(host: Host, caller: Caller, given: DeleteApplet, timeout: float | None) -> Later:
    def done(moved: str) -> Json:
        host.unsaved(given.slug)
        return {"slug": given.slug, "movedTo": moved}

    actor = Actor("kernel", host.session_of(caller))

    def work(services: Services) -> str:
        with services.logged("delete", given.slug, actor):
            return services.store.delete(given.slug)

    return host.answer(caller, work, done)


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
