"""Sessions on the disk: `.jupyter-applets/sessions/<name>/` with a journal, what agents displayed, and who asked what.

events.jsonl         one line each: user.message, assistant.message, tool.execution_start, tool.execution_complete
outputs.json         what is in outputs/: images, tables, screenshots
message-meta.json    who asked what, for those who count
session.json         the session's id, and what it was made from
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from ..errors import FileMissing, FileTooLarge, StorageFailed
from ..protocol.base import Json
from ..protocol.sessions import ChatMessage, Output
from ..workspace import atomic
from ..workspace.audit import stamp
from ..workspace.beneath import open_file, open_folder
from ..workspace.failures import worded
from ..workspace.files import Workspace
from . import journal

MAX_OUTPUT = 16 * 1024 * 1024
MAX_OUTPUTS = 1_000
MAX_NAME = 180
MAX_META_PROMPT = 2_000
MAX_EPHEMERAL = 500
"""Of more sessions that calls have made, the oldest go."""

_OUTPUT = re.compile(r"\d{1,6}-[0-9a-f]{8}\.[a-z]{2,4}")
_PLAIN = re.compile(r"[A-Za-z0-9_.-]")
_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/html": "html",
    "text/plain": "txt",
}


class SessionInfo(msgspec.Struct, rename="camel"):
    id: str
    created: str = ""
    updated: str = ""
    parent: str | None = None
    ephemeral: bool = False

    @property
    def made(self) -> bool:
        return self.ephemeral


class _Kept(msgspec.Struct, rename="camel"):
    name: str
    mime: str
    stream_id: str
    title: str = ""
    timestamp: str = ""
    size: int = 0


class _Outputs(msgspec.Struct):
    outputs: list[_Kept] = []


class SessionStore:
    """Owns the folder. Its methods block, and may be called from any thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()

    # ---- sessions

    def create(self, session: str, *, parent: str | None = None, ephemeral: bool = False) -> None:
        with worded(f"keep session {session!r}"), self._made(session) as folder:
            self._name_it(folder, SessionInfo(session, _now(), parent=parent, ephemeral=ephemeral))
        if ephemeral:
            self._prune()

    def exists(self, session: str) -> bool:
        return self.info(session) is not None

    def info(self, session: str) -> SessionInfo | None:
        with worded(f"read session {session!r}"), self._opened(session) as folder:
            return None if folder is None else _info(folder, session)

    def all(self) -> list[SessionInfo]:
        """All, the one that was used last at the end."""
        with worded("list the sessions"):
            try:
                top = open_folder(self._workspace.descriptor, (*self._workspace.private, "sessions"))
            except FileMissing:
                return []
            try:
                found = []
                for name in os.listdir(top):  # noqa: PTH208 (pathlib knows no descriptors)
                    with contextlib.suppress(OSError, FileMissing):
                        folder = open_folder(top, (name,))
                        try:
                            found.append(_info(folder, unquote(name)))
                        finally:
                            os.close(folder)
                return sorted(found, key=lambda info: info.updated)
            finally:
                os.close(top)

    def _prune(self) -> None:
        ephemeral = [info.id for info in self.all() if info.ephemeral]
        for session in ephemeral[: max(0, len(ephemeral) - MAX_EPHEMERAL)]:
            self.delete(session)

    def delete(self, session: str) -> None:
        with worded(f"delete session {session!r}"), self._lock:
            top = self._workspace.private_folder("sessions")
            try:
                _remove(top, quote(session))
            finally:
                os.close(top)

    # ---- what was said

    def append(self, session: str, lines: Sequence[Json]) -> None:
        with worded(f"keep what was said in session {session!r}"), self._made(session) as folder:
            journal.append(folder, lines)

    def history(self, session: str) -> list[ChatMessage]:
        with worded(f"read what was said in session {session!r}"), self._opened(session) as folder:
            if folder is None:
                return []
            data = _read(folder, journal.FILE)
            outputs = [(kept.stream_id, _output(kept)) for kept in _outputs(folder).outputs]
            return journal.read(data or b"", outputs)

    def write_meta(self, session: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """The supplement: `{"messages": [{timestamp, source, appletSlug, prompt}]}`."""
        rows = [{**row, "prompt": str(row["prompt"])[:MAX_META_PROMPT]} for row in messages]
        with worded(f"keep what was said in session {session!r}"), self._made(session) as folder:
            _put(folder, "message-meta.json", msgspec.json.encode({"messages": rows}))

    # ---- what was displayed

    def put_output(self, session: str, stream_id: str, mime: str, data: bytes, title: str = "") -> Output:
        if len(data) > MAX_OUTPUT:
            raise FileTooLarge(
                f"What was displayed is {len(data) / 1e6:.1f} MB; the limit is {MAX_OUTPUT / 1e6:.1f} MB."
            )
        with worded("keep what was displayed"), self._lock, self._made(session) as folder:
            index = _outputs(folder)
            if len(index.outputs) >= MAX_OUTPUTS:
                raise StorageFailed(f"Session {session!r} holds {MAX_OUTPUTS} outputs already, and takes no more.")
            name = f"{len(index.outputs) + 1}-{secrets.token_hex(4)}.{_ENDINGS.get(mime, 'bin')}"
            kept = _Kept(name, mime, stream_id, title, _now(), len(data))
            with contextlib.suppress(FileExistsError):
                os.mkdir("outputs", 0o700, dir_fd=folder)
            inner = open_folder(folder, ("outputs",))
            try:
                atomic.replace(inner, (name,), data)
            finally:
                os.close(inner)
            index.outputs.append(kept)
            atomic.replace(folder, ("outputs.json",), msgspec.json.format(msgspec.json.encode(index)))
        return _output(kept)

    def get_output(self, session: str, name: str) -> tuple[str, bytes]:
        with worded(f"read {name!r}"), self._opened(session) as folder:
            known = [kept for kept in _outputs(folder).outputs if kept.name == name] if folder is not None else []
            if folder is not None and known and _OUTPUT.fullmatch(name):
                with os.fdopen(open_file(folder, ("outputs", name)), "rb") as file:
                    return known[0].mime, file.read()
        raise FileMissing(f"Nothing of the name {name!r} was displayed in session {session!r}.")

    def output_as_json(self, session: str, name: str) -> Json:
        """As a chat gets it: text, or base64 for what is none."""
        mime, data = self.get_output(session, name)
        is_text = mime.startswith("text/")
        shown = data.decode("utf-8", "replace") if is_text else base64.b64encode(data).decode("ascii")
        return {"name": name, "mime": mime, "data": shown}

    # ---- inside

    @contextlib.contextmanager
    def _made(self, session: str) -> Iterator[int]:
        """The session's folder, made where it is missing."""
        with self._opened(session) as there:
            if there is not None:
                yield there
                return
        folder = self._workspace.private_folder("sessions", quote(session))
        try:
            self._name_it(folder, SessionInfo(session, _now()))
            yield folder
        finally:
            os.close(folder)

    def _name_it(self, folder: int, info: SessionInfo) -> None:
        info.updated = ""
        _put(folder, "session.json", msgspec.json.encode(info))

    @contextlib.contextmanager
    def _opened(self, session: str) -> Iterator[int | None]:
        """The session's folder, if there is one."""
        try:
            parts = (*self._workspace.private, "sessions", quote(session))
            folder = open_folder(self._workspace.descriptor, parts)
        except FileMissing:
            yield None
            return
        try:
            yield folder
        finally:
            os.close(folder)


def quote(session: str) -> str:
    """A session's id as the name of a folder."""
    parts = [c if _PLAIN.fullmatch(c) else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace")) for c in session]
    name = "".join(parts)
    if name.startswith(".") or not name:
        name = f"%2E{name[1:]}" if name else "%"
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 33]}~{hashlib.blake2b(session.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"


def unquote(name: str) -> str:
    """The id that a folder's name stands for, unless it was too long."""
    if name == "%":
        return ""
    raw = re.sub(rb"%([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), name.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "replace")


def _info(folder: int, session: str) -> SessionInfo:
    data = _read(folder, "session.json")
    try:
        info = msgspec.json.decode(data or b"", type=SessionInfo)
    except msgspec.DecodeError:
        info = SessionInfo(session)
    with contextlib.suppress(OSError):
        modified = os.stat(journal.FILE, dir_fd=folder, follow_symlinks=False).st_mtime
        info.updated = stamp(datetime.fromtimestamp(modified, timezone.utc))
    info.updated = info.updated or info.created
    return info


def _outputs(folder: int) -> _Outputs:
    try:
        return msgspec.json.decode(_read(folder, "outputs.json") or b"{}", type=_Outputs)
    except msgspec.DecodeError:
        return _Outputs()


def _output(kept: _Kept) -> Output:
    return Output(kept.name, kept.mime, kept.title)


def _read(folder: int, name: str) -> bytes | None:
    try:
        with os.fdopen(open_file(folder, (name,)), "rb") as file:
            return file.read()
    except FileMissing:
        return None


def _put(folder: int, name: str, data: bytes) -> None:
    """Whole or not at all, but without waiting for the disk: it is written often, and the journal has it all."""
    temporary = atomic.temporary_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove(top: int, name: str) -> None:
    """A folder with all that is in it; no link is followed. `shutil.rmtree` takes no descriptor before Python 3.11."""
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    except FileNotFoundError:
        return
    try:
        for inner in os.listdir(folder):  # noqa: PTH208 (pathlib knows no descriptors)
            if stat.S_ISDIR(os.stat(inner, dir_fd=folder, follow_symlinks=False).st_mode):
                _remove(folder, inner)
            else:
                os.unlink(inner, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _now() -> str:
    return stamp(datetime.now(timezone.utc))
