"""What a page loads once, for all widgets: over HTTP from the server, or, where there is none, over a widget's comm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"
NAMES = ("agent.js", "chat.js", "desk.js", "lexer.js")


def text(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def answer(send: Callable[[dict[str, Any]], None], content: Any) -> bool:
    """Answer a page that asks for a bundle. False when it said something else."""
    if not isinstance(content, dict) or content.get("kind") != "bundle":
        return False
    name = content.get("name")
    reply: dict[str, Any] = {"kind": "bundle", "name": name}
    if name in NAMES and (STATIC / name).is_file():
        reply["text"] = text(name)
    else:
        reply["error"] = f"There is no bundle {name!r}."
    send(reply)
    return True
