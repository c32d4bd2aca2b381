"""`api/applets` and `api/applets/{slug}`: saved applets, for pages."""

from __future__ import annotations

import msgspec
from tornado import web

from ...errors import VersionConflict
from ...protocol.base import Data, Json
from ...store.applets import SavedApplet
from ...tools.applets import content_of
from ...tools.services import Services
from ...workspace.audit import Actor
from ..base import ApiHandler


class AppletBody(Data, frozen=True):
    html: str
    js: str = ""
    css: str = ""
    name: str | None = None
    description: str | None = None
    permissions: dict[str, Json] | None = None
    modules: dict[str, str] | None = None
    state: dict[str, Json] | None = None
    app_protocol: bool | None = None


class AppletsHandler(ApiHandler):
    @web.authenticated
    async def get(self) -> None:
        """As `list_applets`."""
        found = await self.driver.run(lambda services: services.store.list(), ordered=True)
        self.answer(found)


class AppletHandler(ApiHandler):
    @web.authenticated
    async def get(self, slug: str) -> None:
        saved = await self.driver.run(lambda services: services.store.load(slug))
        self.set_header("ETag", f'"{saved.version}"')
        if self.check_etag_header():
            self.set_status(304)
        else:
            self._answer(saved)

    @web.authenticated
    async def put(self, slug: str) -> None:
        body = self.json_body(AppletBody)
        if_match, must_be_new = self._match()

        def work(services: Services) -> tuple[SavedApplet, bool]:
            before = services.store.version(slug)
            if must_be_new and before is not None:
                raise VersionConflict(f"There is an applet {slug!r} already.")
            with services.logged("save", slug, Actor("user")):
                saved = services.store.save(slug, **msgspec.structs.asdict(body), if_match=if_match)
            return saved, before is None

        saved, is_new = await self.driver.run(work, ordered=True)
        self.set_status(201 if is_new else 200)
        self._answer(saved)

    @web.authenticated
    async def delete(self, slug: str) -> None:
        if_match, _ = self._match()

        def work(services: Services) -> str:
            with services.logged("delete", slug, Actor("user")):
                return services.store.delete(slug, if_match=if_match)

        moved = await self.driver.run(work, ordered=True)
        self.driver.apply(lambda host: host.unsaved(slug))
        self.answer({"ok": True, "slug": slug, "movedTo": moved})

    def _match(self) -> tuple[str | None, bool]:
        """The version that may be replaced, and whether there must be none."""
        wanted = self.request.headers.get("If-Match", "").strip().removeprefix("W/").strip('"')
        return wanted or None, self.request.headers.get("If-None-Match") == "*"

    def _answer(self, saved: SavedApplet) -> None:
        self.set_header("ETag", f'"{saved.version}"')
        self.answer(
            {
                "slug": saved.slug,
                "name": saved.meta.name,
                "description": saved.meta.description,
                "created": saved.meta.created,
                "updated": saved.meta.updated,
                "shipped": saved.shipped,
                "version": saved.version,
                "html": saved.html,
                "js": saved.js,
                "css": saved.css,
                "state": saved.state,
                "appProtocol": saved.app.app_protocol,
                "permissions": saved.app.permissions,
                "fileAssociations": saved.app.file_associations,
                "modules": content_of(saved).modules,
                "files": sorted(saved.files),
            }
        )
