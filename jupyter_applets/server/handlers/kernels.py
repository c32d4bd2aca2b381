"""`ws/kernel`: the socket of a kernel, which shows the secret of this server run instead of the user's token."""

from __future__ import annotations

from hmac import compare_digest
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado import web

from ...protocol.frames import Codec
from ...protocol.link import FromKernel
from ..base import HostSocket


class KernelSocket(HostSocket):
    role = "kernel"
    codec = Codec(FromKernel)

    async def authenticate(self) -> None:
        scheme, _, secret = self.request.headers.get("Authorization", "").partition(" ")
        expected: str = self.settings["jupyter_applets_secret"]
        if scheme.lower() not in ("token", "bearer") or not compare_digest(secret.encode(), expected.encode()):
            raise web.HTTPError(403)

    @allow_unauthenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        await super().get(*args, **kwargs)
