"""Every tool of a host: what it does. What it is called, takes and says of itself is in `protocol/tools.py`.

registry   binds a tool to its function
services   what worker threads have at hand
windows    running applets: read, drive, show, push, close
applets    saved applets
files      files, for agents and for applets
sessions   speaking with agents

`schemas` gives the tools to an LLM, `call` runs one from a kernel.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ..host import Host
from ..host.decisions import RunPolicy
from ..protocol.base import MAX_MESSAGE_BYTES, Json
from ..protocol.tools import schemas
from ..workspace.audit import stamp
from . import applets, files, sessions, windows  # noqa: F401
from .registry import TOOLS

__all__ = ["TOOLS", "call", "make_host", "schemas"]


def make_host(version: str, *, max_message_bytes: int = MAX_MESSAGE_BYTES, run: RunPolicy = "auto") -> Host:
    """A host with every tool."""
    return Host(
        TOOLS,
        version=version,
        max_message_bytes=max_message_bytes,
        messages=files.MESSAGES,
        changed=applets.on_file_changed,
        run=run,
        clock=lambda: stamp(datetime.now(timezone.utc)),
    )


async def call(name: str, arguments: dict[str, Json] | str | None = None, *, timeout: float | None = None) -> Any:
    """Run a tool by name, with its arguments as its schema has them, or as JSON: what an LLM's tool call asks for."""
    from ..kernel.toolbox import acall  # the one way up: a kernel's connection, made when a kernel calls

    return await acall(name, arguments or {}, timeout)
