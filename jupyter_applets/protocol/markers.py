"""Marks who a prompt comes from in its stored text (seed 001): `[applet:<slug>] …`, `[agent:<name>] …`.

The mark is the source of truth for how a message is shown. A person who types one is escaped by a backslash.
"""

from __future__ import annotations

import re

from .sessions import Source

MAX_SLUG = 100

_MARKED = re.compile(r"\[(applet|agent):([^\]]+)\] ?(.*)", re.DOTALL)
_LOOKS_MARKED = re.compile(r"\\*\[(?:applet|agent):")
_ESCAPED = re.compile(r"\\+\[(?:applet|agent):")
_UNFIT = re.compile(r"[\]\x00-\x1f\x7f-\x9f\u2028\u2029]")


def clean(slug: str) -> str:
    """A name as a mark can hold it."""
    return _UNFIT.sub("_", slug)[:MAX_SLUG] or "applet"


def mark(source: Source, slug: str | None, prompt: str) -> str:
    """The text to be stored."""
    if source != "user":
        return f"[{source}:{clean(slug or '')}] {prompt}"
    return f"\\{prompt}" if _LOOKS_MARKED.match(prompt) else prompt


def parse(content: str) -> tuple[Source, str | None, str]:
    """Who a stored text comes from, and what was said."""
    match = _MARKED.fullmatch(content)
    if match is not None:
        return "agent" if match[1] == "agent" else "applet", clean(match[2]), match[3]
    return "user", None, content[1:] if _ESCAPED.match(content) else content
