"""A TCP proxy on loopback that can cut, stall and slow the connections through it."""

from __future__ import annotations

import asyncio
import contextlib


class Proxy:
    """Owns its listening port and the connections through it."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self.accepted = 0
        self.piece = 65536

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def cut(self) -> None:
        """End every connection at once, as a lost network does."""
        for writer in list(self._writers):
            writer.transport.abort()

    def stall(self) -> None:
        self._open.clear()

    def go_on(self) -> None:
        self._open.set()

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        there_reader, there_writer = await asyncio.open_connection(*self._target)
        for source, sink in ((reader, there_writer), (there_reader, writer)):
            self._writers.add(sink)
            task = asyncio.create_task(self._pump(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(self.piece):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        self._writers.discard(sink)
        sink.close()
