"""Paths as users and applets give them: parsed into parts below the root, or refused. Pure, no system call."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

from ..errors import PathRefused

Parts: TypeAlias = tuple[str, ...]
"""The names from the root down; the root itself is `()`."""

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4096
MAX_DEPTH = 100

SENSITIVE = (
    ".env*",
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".pgpass",
    ".docker",
    ".kube",
    ".ipython",
    ".jupyter",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.keystore",
    "jpserver-*",
    "nbserver-*",
    "kernel-*.json",
    "jupyter_cookie_secret",
    "jupyter_*config*.py",
    "jupyter_*config*.json",
    "jupyter_server_config*",
    "notebook_secret",
)
"""Names, as shell patterns, that no verb reaches wherever they stand in a path."""

# CON, NUL and the like are devices on Windows, with any extension.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)
_DRIVE = re.compile(r"^[a-zA-Z]:")
# Most names are of this kind, and need no closer look: a folder may hold ten thousand.
_PLAIN = re.compile(
    r"(?!con|prn|aux|nul|com|lpt)[\w\-+=@#~,()\[\] .]{0,62}[\w\-+=@#~,()\[\]]", re.ASCII | re.IGNORECASE
)


def parse(path: str, root: str, sensitive: Iterable[str] = SENSITIVE) -> Parts:
    """The parts of `path` below `root`; it may be relative to the root, or absolute and inside it.

    >>> parse("data/a.csv", "/home/me")
    ('data', 'a.csv')
    """
    _check_text(path)
    names = [name for name in path.split("/") if name not in ("", ".")]
    if path.startswith("/"):
        names = _below(names, [name for name in root.split("/") if name], path)
    if len(names) > MAX_DEPTH:
        raise PathRefused(f"A path may be {MAX_DEPTH} names deep.")
    for name in names:
        check_name(name)
        if is_sensitive(name, sensitive):
            raise PathRefused(f"{path!r} is not open to applets: {name!r} is a name that may hold secrets.")
    return tuple(names)


def check_name(name: str) -> None:
    """Refuse what is no name on some system, or would be a way up to whoever decodes it once more."""
    if _PLAIN.fullmatch(name) and name != "..":
        return
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise PathRefused("A path may not go up with `..`.")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise PathRefused("A path must be UTF-8.") from None
    if size > MAX_NAME_BYTES:
        raise PathRefused(f"A name may have {MAX_NAME_BYTES} bytes.")
    if name[-1] in ". " or ":" in name or "\\" in name or _has_controls(name) or _DEVICE.match(name):
        raise PathRefused(f"{name!r} is not a name on every system.")
    if ("%" in name and _hides_a_way_up(name)) or (not name.isascii() and ".." in fold(name).split("/")):
        raise PathRefused(f"{name!r} hides a way out of its folder.")


def is_sensitive(name: str, patterns: Iterable[str] = SENSITIVE) -> bool:
    return matcher(tuple(patterns)).match(fold(name)) is not None


def fold(name: str) -> str:
    """The name as file systems that ignore case, accents' spelling and invisible characters see it (CVE-2014-9390)."""
    if name.isascii():
        return name.lower()
    visible = "".join(c for c in name if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())


@lru_cache
def matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the folded names that are sensitive."""
    return re.compile("|".join(translate(fold(pattern)) for pattern in patterns) or r"(?!)")


def _check_text(path: str) -> None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise PathRefused("A path must be UTF-8.") from None
    if size > MAX_PATH_BYTES:
        raise PathRefused(f"A path may have {MAX_PATH_BYTES} bytes; this one has {size}.")
    if _has_controls(path):
        raise PathRefused("A path may have no control characters.")
    if "\\" in path or _DRIVE.match(path) or path.startswith("//"):
        raise PathRefused(f"{path!r} is a Windows path: names are divided by `/`, and start at the workspace's root.")


def _has_controls(text: str) -> bool:
    return any(ord(c) < 32 or ord(c) == 127 for c in text)


def _hides_a_way_up(name: str) -> bool:
    """Whether it would be a way out, were it decoded once more (and again): nobody means such a name."""
    for _ in range(4):
        decoded = unquote(name)
        if decoded == name:
            return False
        name = decoded
        if name in (".", "..") or any(c in name for c in "/\\\0"):
            return True
    return True


def _below(names: list[str], root: list[str], path: str) -> list[str]:
    # By part, never by prefix: `/srv/nb` is not above `/srv/nb-secret` (CVE-2026-35397).
    if names[: len(root)] != root:
        raise PathRefused(f"{path!r} is outside the workspace.")
    return names[len(root) :]
