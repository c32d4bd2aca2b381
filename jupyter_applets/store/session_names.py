"""Sessions' ids, which are paths of notebooks, ids of kernels or `s-…`, as the names of folders."""

from __future__ import annotations

import hashlib
import re

from ..errors import StoreError

MAX_NAME = 180

_UNFIT = re.compile(rb"[^A-Za-z0-9_.-]|^\.")
_CODED = re.compile(rb"%([0-9A-F]{2})")
_EMPTY = "%"
_CUT = "~"
"""Before the hash of an id that is too long for a name; no other name has it."""


def quote(session: str) -> str:
    """The name of a session's folder.

    >>> quote("a/b c.ipynb")
    'a%2Fb%20c.ipynb'
    """
    try:
        raw = session.encode()
    except UnicodeEncodeError:
        raise StoreError(f"A session's id must be UTF-8: {session!r} is not.") from None
    name = _UNFIT.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii") or _EMPTY
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    return f"{name[: MAX_NAME - len(digest) - 1]}{_CUT}{digest}"


def unquote(name: str) -> str | None:
    """The id that a name stands for; None where it does not say, or is no session's."""
    if name == _EMPTY:
        return ""
    try:
        session = _CODED.sub(lambda match: bytes([int(match[1], 16)]), name.encode()).decode()
        return session if quote(session) == name else None
    except (UnicodeError, StoreError):
        return None
