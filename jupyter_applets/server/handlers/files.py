"""`api/applet/file` and `api/applet/list`: files, for the user, or for an applet whose window is named."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from tornado import web
from tornado.iostream import StreamClosedError

from ...errors import InvalidArguments
from ...protocol.base import Data
from ...protocol.channel import Encoding
from ...tools.files import Asker
from ...workspace.reading import Reading
from ...workspace.text import from_text, json_chunks
from ..base import ApiHandler

CHUNK = 1024 * 1024
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_TRUE = ("1", "true", "yes")


class WriteBody(Data, frozen=True):
    content: str
    encoding: Encoding | None = None
    if_match: str | None = None


class FilesHandler(ApiHandler):
    """What both have in common: who asks, and for which path."""

    def path_argument(self) -> str:
        path = self.argument("path")
        if path is None:
            raise InvalidArguments("Name a file: ?path=…")
        return path

    def flag(self, name: str) -> bool:
        return (self.argument(name) or "").lower() in _TRUE

    def asker(self, verb: Literal["read", "write"], path: str) -> Asker:
        """Who asks, if it may. A refusal is logged, which is the driver's to have done."""
        revision = self.argument("revision") or ""
        asker = Asker(
            self.driver.host,
            self.argument("session") or "",
            self.named_window(),
            self.flag("consent"),
            int(revision) if re.fullmatch(r"\d{1,18}", revision) else None,
        )
        self.driver.apply(lambda host: asker.check(verb, path))
        return asker


class FileHandler(FilesHandler):
    @web.authenticated
    async def get(self) -> None:
        """`{content, encoding, version}`; with `raw=1` the bytes themselves. Both take a `Range`."""
        path = self.path_argument()
        asker = self.asker("read", path)
        reading = await self.driver.run(lambda services: services.workspace.open(path, asker.actor))
        try:
            asker.knows(reading.path)
            self.set_header("ETag", f'"{reading.version}"')
            self.set_header("Accept-Ranges", "bytes")
            self.set_header("Cache-Control", "no-cache")
            if self.check_etag_header():
                self.set_status(304)
                return
            part = self._range(reading)
            if part is None:
                return
            start, stop = part
            if self.flag("raw"):
                # Never shown as a page of this server, whatever is in it.
                self.set_header("Content-Type", "application/octet-stream")
                self.set_header("Content-Length", str(stop - start))
                await self._send(reading.chunks(start, stop, CHUNK))
            else:
                await self._send(json_chunks(reading, start, stop))
        finally:
            await self.driver.run(lambda services: reading.close())

    @web.authenticated
    async def post(self) -> None:
        """`{content, encoding?, ifMatch?}`, or, as `application/octet-stream`, the bytes themselves."""
        path = self.path_argument()
        asker = self.asker("write", path)
        kind = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        raw = kind == "application/octet-stream"

        def work(services: Any) -> tuple[str, str]:
            if_match = self.argument("ifMatch")
            if raw:
                data = self.request.body
            else:
                body = self.json_body(WriteBody)
                data = from_text(body.content, body.encoding)
                if_match = body.if_match or if_match
            version = asker.write(services, path, data, if_match)
            return "/".join(services.workspace.check(path, asker.actor)), version

        name, version = await self.driver.run(work, ordered=True)
        asker.knows(name)
        self.answer({"ok": True, "version": version})

    def _range(self, reading: Reading) -> tuple[int, int] | None:
        """The bytes that are asked for; None when there are no such bytes, which has been said then."""
        size = reading.size
        match = _RANGE.fullmatch(self.request.headers.get("Range", "").strip())
        of_another = self.request.headers.get("If-Range", f'"{reading.version}"') != f'"{reading.version}"'
        if match is None or match.groups() == ("", "") or of_another:
            return 0, size
        first, last = match.groups()
        if first:
            start, stop = int(first), min(int(last) + 1 if last else size, size)
        else:
            start, stop = max(0, size - int(last)), size
        if start >= stop:
            self.set_status(416)
            self.set_header("Content-Range", f"bytes */{size}")
            return None
        self.set_status(206)
        self.set_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        return start, stop

    async def _send(self, pieces: Iterator[bytes]) -> None:
        """Read the next piece while the last one is on its way; hold no more than these two."""

        def following() -> asyncio.Task[bytes | None]:
            return asyncio.ensure_future(self.driver.run(lambda services: next(pieces, None)))

        ahead = following()
        try:
            while (piece := await ahead) is not None:
                ahead = following()
                self.write(piece)
                await self.flush()
        except StreamClosedError:
            return  # the reader went away
        finally:
            await asyncio.wait([ahead])


class ListHandler(FilesHandler):
    @web.authenticated
    async def get(self) -> None:
        path = self.argument("path") or ""
        asker = self.asker("read", path)
        body = await self.driver.run(
            lambda services: msgspec.json.encode({"files": services.workspace.list(path, asker.actor)})
        )
        self.finish(body)
