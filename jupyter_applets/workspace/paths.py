"""Paths as users and applets give them: parsed into parts below the root, or refused. Pure, no system call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TypeAlias
from urllib.parse import unquote

from ..errors import PathRefused

Parts: TypeAlias = tuple[str, ...]
"""The names from the root down; the root itself is `()`."""

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4096

SENSITIVE = (
    ".env*",
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".netrc",
    ".pypirc",
    ".npmrc",
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
    "jupyter_server_config*",
    "notebook_secret",
)
"""Names, as shell patterns, that no verb reaches wherever they stand in a path."""

# CON, NUL and the like are devices on Windows, with any extension.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)
_DRIVE = re.compile(r"^[a-zA-Z]:")


def parse(path: str, root: str, sensitive: Iterable[str] = SENSITIVE) -> Parts:
    """The parts of `path` below `root`; it may be relative to the root, or absolute and inside it.

    >>> parse("data/a.csv", "/home/me")
    ('data', 'a.csv')
    """
    _check_text(path)
    names = [name for name in path.split("/") if name not in ("", ".")]
    for name in names:
        _check_name(name)
    if path.startswith("/"):
        names = _below(names, [name for name in root.split("/") if name], path)
    for name in names:
        for pattern in sensitive:
            if fnmatchcase(name.lower(), pattern):
                raise PathRefused(f"{path!r} is not open to applets: {name!r} is a name that may hold secrets.")
    return tuple(names)


def _check_text(path: str) -> None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise PathRefused("A path must be UTF-8.") from None
    if size > MAX_PATH_BYTES:
        raise PathRefused(f"A path may have {MAX_PATH_BYTES} bytes; this one has {size}.")
    if any(ord(c) < 32 or ord(c) == 127 for c in path):
        raise PathRefused("A path may have no control characters.")
    if "\\" in path or _DRIVE.match(path) or path.startswith("//"):
        raise PathRefused(f"{path!r} is a Windows path: names are divided by `/`, and start at the workspace's root.")


def _check_name(name: str) -> None:
    if name == "..":
        raise PathRefused("A path may not go up with `..`.")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise PathRefused(f"A name may have {MAX_NAME_BYTES} bytes.")
    if name[-1] in ". " or ":" in name or _DEVICE.match(name):
        raise PathRefused(f"{name!r} is not a name on every system.")
    if "%" in name and _hides_a_way_up(name):
        raise PathRefused(f"{name!r} hides a way out of its folder.")


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
