"""`ws/applet?session=`: the socket of a page, under the user's own login."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import ws_authenticated

from ...protocol.frames import Codec
from ...protocol.link import FromPage
from ..base import HostSocket


class PageSocket(HostSocket):
    role = "page"
    codec = Codec(FromPage)

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        await super().get(*args, **kwargs)
