"""`static/{name}`: the bundles that a page loads once."""

from __future__ import annotations

from pathlib import Path

from tornado import web

from ..base import ApiHandler

_STATIC = Path(__file__).parents[2] / "widget" / "static"


class StaticHandler(ApiHandler):
    @web.authenticated
    async def get(self, name: str) -> None:
        path = _STATIC / name
        if not path.is_file():
            raise web.HTTPError(404)
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        # The address has the version in it, but an editable install changes under one version.
        self.set_header("Cache-Control", "no-cache")
        self.finish(path.read_bytes())
