"""The names of saved applets, which are names of folders too."""

from __future__ import annotations

import re
import unicodedata

from ..errors import InvalidSlug, PathRefused
from ..workspace.paths import SENSITIVE, check_name, is_sensitive

MAX_LENGTH = 64
RULE = f"lowercase letters, digits and inner hyphens, at most {MAX_LENGTH} characters"

_SLUG = re.compile(rf"[a-z0-9](?:[a-z0-9-]{{0,{MAX_LENGTH - 2}}}[a-z0-9])?")


def is_slug(name: str, sensitive: tuple[str, ...] = SENSITIVE) -> bool:
    if not _SLUG.fullmatch(name) or is_sensitive(name, sensitive):
        return False
    try:
        check_name(name)  # `con` and the like
    except PathRefused:
        return False
    return True


def check_slug(slug: str, sensitive: tuple[str, ...] = SENSITIVE) -> None:
    if is_slug(slug, sensitive):
        return
    shown = slug if len(slug) <= MAX_LENGTH else f"{slug[:MAX_LENGTH]}…"
    better = suggest(slug, sensitive)
    hint = f" Try {better!r}." if better else ""
    raise InvalidSlug(f"{shown!r} cannot name an applet: a slug is {RULE}.{hint}", names=[better] if better else [])


def suggest(given: str, sensitive: tuple[str, ...] = SENSITIVE) -> str | None:
    """The nearest slug to what was given, if there is one.

    >>> suggest("My Sheet!")
    'my-sheet'
    """
    plain = unicodedata.normalize("NFKD", given[: 4 * MAX_LENGTH]).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_LENGTH].strip("-")
    for better in (slug, f"applet-{slug}"[:MAX_LENGTH]):
        if slug and is_slug(better, sensitive):
            return better
    return None
