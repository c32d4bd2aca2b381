"""Logs: what an applet said on its console, what it threw, and what the host noted of it."""

from __future__ import annotations

import time
from html import escape
from typing import NamedTuple

from ..protocol.link import ConsoleEntry

KEPT = 1_000
_COLOURS = {"error": "var(--jp-error-color1, #c33)", "warn": "var(--jp-warn-color1, #a60)"}


class LogEntry(NamedTuple):
    """One line. `time` is the page's clock in seconds since the epoch, or 0 for the host's own notes."""

    level: str
    text: str
    time: float

    def __str__(self) -> str:
        clock = time.strftime("%H:%M:%S ", time.localtime(self.time)) if self.time else ""
        return f"{clock}{self.level}: {self.text}"


class Logs(list[LogEntry]):
    """The newest lines of an applet, oldest first."""

    def take(self, entries: list[ConsoleEntry], dropped: int = 0) -> None:
        self += [LogEntry(entry.level, " ".join(entry.args), entry.timestamp / 1000) for entry in entries]
        if dropped:
            self.append(LogEntry("warn", f"{dropped} lines came too fast and were dropped", 0.0))
        del self[:-KEPT]

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) if self else "(no log lines)"

    def _repr_html_(self) -> str:
        lines = (
            f'<div style="color:{_COLOURS.get(entry.level, "inherit")}">{escape(str(entry))}</div>' for entry in self
        )
        return f'<div style="font:12px/1.5 var(--jp-code-font-family, monospace)">{"".join(lines) or repr(self)}</div>'
