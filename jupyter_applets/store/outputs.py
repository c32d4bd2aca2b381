"""What agents displayed in a session: a file each in `outputs/`, and `outputs.json`, which says what they are."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import secrets
from datetime import datetime, timezone
from typing import Any

import msgspec

from ..errors import BrokenApplet, FileMissing, FileTooLarge, StorageFailed, StoreError
from ..protocol.sessions import Output
from ..workspace.audit import stamp
from ..workspace.beneath import make_folder
from . import private
from .documents import decode, encode

FOLDER, INDEX = "outputs", "outputs.json"
MAX_OUTPUT = 16 * 1024 * 1024
MAX_OUTPUTS = 1_000

_NAME = re.compile(r"\d{1,6}-[0-9a-f]{8}\.[a-z]{2,4}")
# It becomes a header of an answer.
_MIME = re.compile(r"[a-zA-Z0-9.+_-]+/[a-zA-Z0-9.+_-]+(?:; ?[a-zA-Z0-9_-]+=[a-zA-Z0-9._-]+)*")
_MAX_MIME = 200
_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
}
_log = logging.getLogger(__name__)


class _Entry(msgspec.Struct, rename="camel"):
    name: str
    mime: str
    title: str = ""
    stream_id: str = ""
    timestamp: str = ""
    size: int = 0


def check(mime: str, data: bytes) -> None:
    if len(data) > MAX_OUTPUT:
        raise FileTooLarge(f"What was displayed is {len(data) / 1e6:.1f} MB; the limit is {MAX_OUTPUT / 1e6:.1f} MB.")
    if not _is_mime(mime):
        raise StoreError(f"What was displayed is of no known kind: {mime[:_MAX_MIME]!r} is no MIME type.")


def put(folder: int, stream_id: str, mime: str, data: bytes, title: str) -> Output:
    """Keep this, in a session's open folder."""
    # Another server may be at it too. Each call has a descriptor of its own, so threads wait for each other as well.
    fcntl.flock(folder, fcntl.LOCK_EX)
    document = _document(folder, aside=True)
    entries = document["outputs"]
    if len(entries) >= MAX_OUTPUTS:
        raise StorageFailed(f"This session holds {MAX_OUTPUTS} outputs already, and takes no more.")
    name = f"{len(entries) + 1}-{secrets.token_hex(4)}.{_ENDINGS.get(mime, 'bin')}"
    entry = _Entry(name, mime, title, stream_id, stamp(datetime.now(timezone.utc)), len(data))
    index = encode(INDEX, {**document, "outputs": [*entries, msgspec.to_builtins(entry)]})
    inner = make_folder(folder, (FOLDER,), private.no_link, private.FOLDER_MODE)
    try:
        private.put(inner, name, data)
    finally:
        os.close(inner)
    private.put(folder, INDEX, index)
    return Output(name, mime, title)


def get(folder: int, name: str) -> tuple[str, bytes]:
    for entry in _entries(folder):
        if entry.name == name and (data := private.read(folder, FOLDER, name)) is not None:
            return entry.mime, data
    raise FileMissing(f"Nothing of the name {name!r} was displayed in this session.")


def by_stream(folder: int) -> dict[str, list[Output]]:
    found: dict[str, list[Output]] = {}
    for entry in _entries(folder):
        found.setdefault(entry.stream_id, []).append(Output(entry.name, entry.mime, entry.title))
    return found


def _entries(folder: int) -> list[_Entry]:
    """Those that make sense: other programs may have written there."""
    found = []
    for raw in _document(folder)["outputs"]:
        try:
            entry = msgspec.convert(raw, _Entry)
        except msgspec.ValidationError:
            continue
        if _NAME.fullmatch(entry.name) and _is_mime(entry.mime):
            found.append(entry)
    return found


def _document(folder: int, *, aside: bool = False) -> dict[str, Any]:
    """The index as it stands. One that is broken is empty; who is about to replace it sets it aside."""
    data = private.read(folder, INDEX)
    if data is None:
        return {"outputs": []}
    try:
        document = decode(INDEX, data)
        if isinstance(document.get("outputs"), list):
            return document
        raise BrokenApplet(f"{INDEX} has no list of outputs.")
    except BrokenApplet as e:
        if aside:
            name = f"{INDEX}.broken-{datetime.now(timezone.utc):%Y%m%dT%H%M%S%fZ}"
            os.rename(INDEX, name, src_dir_fd=folder, dst_dir_fd=folder)
            _log.warning("%s is set aside as %s, so outputs before are not shown: %s", INDEX, name, e)
        return {"outputs": []}


def _is_mime(mime: str) -> bool:
    return len(mime) <= _MAX_MIME and _MIME.fullmatch(mime) is not None
