"""`api/health`: that the extension is here, and what it holds."""

from __future__ import annotations

from tornado import web

from ... import __version__
from ...protocol.base import PROTOCOL
from ..base import ApiHandler


class HealthHandler(ApiHandler):
    @web.authenticated
    async def get(self) -> None:
        windows = self.driver.host.windows
        self.answer(
            {
                "version": __version__,
                "protocol": PROTOCOL,
                "windows": len(windows),
                "sessions": len({window.session for window in windows}),
            }
        )
