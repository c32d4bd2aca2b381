"""HtmlStream: HTML that a page renders as it is written; when it is whole, it becomes the applet's content."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class HtmlStream:
    """To be used with `async with`. One that fails leaves what was written as the content, so that nothing is lost."""

    def __init__(
        self, begin: Callable[[], None], write: Callable[[str], Awaitable[None]], end: Callable[[str], None]
    ) -> None:
        self._begin = begin
        self._write = write
        self._end = end
        self._pieces: list[str] = []
        self._open = False

    async def __aenter__(self) -> Self:
        self._begin()
        self._open = True
        return self

    async def write(self, html: str) -> None:
        """More of it. Waits until the host has it, so that a fast writer does not run ahead."""
        if not self._open:
            raise RuntimeError("Write inside `async with app.stream_html() as stream:`.")
        if not isinstance(html, str):
            raise TypeError(f"HTML is written as text, not as {type(html).__name__}.")
        self._pieces.append(html)
        await self._write(html)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open = False
        self._end("".join(self._pieces))
