"""Sessions on the disk: `.jupyter-applets/sessions/<name>/` with a journal, what agents displayed, and who asked what.

events.jsonl         one line each: user.message, assistant.message, tool.execution_start, tool.execution_complete
outputs.json         what is in outputs/: images, tables, screenshots
message-meta.json    who asked what, for those who count
session.json         the session's id, and what it was made from
"""

from __future__ import annotations

import base64
import contextlib
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from ..errors import AppletError, FileMissing, StoreError
from ..protocol.base import Json
from ..protocol.sessions import ChatMessage, Output
from ..workspace.audit import stamp
from ..workspace.failures import worded
from ..workspace.files import Workspace
from . import journal, outputs, private
from .session_folders import SessionFolders, SessionInfo, info_of
from .session_names import quote

META = "message-meta.json"
MAX_META_PROMPT = 2_000
MAX_EPHEMERAL = 500
"""Of more sessions that calls have made, the oldest go."""
_PRUNE_EVERY = 20
"""To look for them costs 20 µs for each session that is there: it is not done for each new one."""
_log = logging.getLogger(__name__)


class SessionStore:
    """Owns the folder. Its methods block, and may be called from any thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._folders = SessionFolders(workspace)
        self._lock = threading.Lock()
        self._until_prune = 0
        self._told: set[str] = set()
        """The sessions of which the log says that lines are broken."""

    # ---- sessions

    def create(self, session: str, *, parent: str | None = None, ephemeral: bool = False) -> None:
        """One that is there stays as it was made."""
        info = SessionInfo(session, stamp(datetime.now(timezone.utc)), parent=parent, ephemeral=ephemeral)
        with worded(f"keep session {session!r}"), self._folders.made(session, info):
            pass
        if ephemeral and self._is_time_to_prune():
            try:
                self.prune()
            except AppletError as e:
                _log.warning("old sessions are still there: %s", e)

    def exists(self, session: str) -> bool:
        return self.info(session) is not None

    def info(self, session: str) -> SessionInfo | None:
        with worded(f"read session {session!r}"), self._folders.opened(session) as folder:
            return None if folder is None else info_of(folder, session, quote(session))

    def all(self) -> list[SessionInfo]:
        """All, the one that was used last at the end."""
        with worded("list the sessions"):
            return sorted(self._folders.all(), key=lambda info: info.updated)

    def delete(self, session: str) -> None:
        """Remove one that a call has made."""
        info = self.info(session)
        if info is None:
            raise FileMissing(f"There is no session {session!r}.")
        if not info.ephemeral:
            raise StoreError(f"Session {session!r} is that of a notebook or a kernel, and is kept.")
        with worded(f"delete session {session!r}"):
            self._folders.remove(session)

    def prune(self, max_ephemeral: int = MAX_EPHEMERAL) -> list[str]:
        """Remove the oldest of those that calls have made, and what a removal that was cut off has left."""
        ephemeral = [info.id for info in self.all() if info.ephemeral]
        gone = ephemeral[: max(0, len(ephemeral) - max_ephemeral)]
        for session in gone:
            with contextlib.suppress(FileMissing):
                self.delete(session)
        with worded("remove what is left of sessions"):
            self._folders.sweep()
        return gone

    # ---- what was said

    def append(self, session: str, lines: Sequence[Json]) -> None:
        with worded(f"keep what was said in session {session!r}"), self._folders.made(session) as folder:
            journal.append(folder, lines)

    def history(self, session: str) -> list[ChatMessage]:
        """All messages. A turn that has no answer yet reads as interrupted: who knows that it is under way says so."""
        with worded(f"read what was said in session {session!r}"), self._folders.opened(session) as folder:
            if folder is None:
                return []
            data = private.read(folder, journal.FILE) or b""
            messages, broken = journal.read(data, outputs.by_stream(folder))
        if broken and session not in self._told:
            self._told.add(session)
            _log.warning("%d lines of the journal of session %r cannot be read, and are passed over.", broken, session)
        return messages

    def write_meta(self, session: str, messages: Iterable[Mapping[str, Any]]) -> None:
        """The supplement: `{"messages": [{timestamp, source, appletSlug, prompt}]}`."""
        rows = [{**row, "prompt": str(row["prompt"])[:MAX_META_PROMPT]} for row in messages]
        with worded(f"keep what was said in session {session!r}"), self._folders.made(session) as folder:
            private.put_soon(folder, META, journal.encode({"messages": rows}))

    def read_meta(self, session: str) -> list[dict[str, Any]]:
        """What of the supplement makes sense; `meta_of` makes it anew."""
        with worded(f"read what was said in session {session!r}"), self._folders.opened(session) as folder:
            data = None if folder is None else private.read(folder, META)
        try:
            rows = msgspec.json.decode(data or b"{}", type=dict[str, Any]).get("messages")
        except (ValueError, RecursionError):
            return []
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    # ---- what was displayed

    def put_output(self, session: str, stream_id: str, mime: str, data: bytes, title: str = "") -> Output:
        outputs.check(mime, data)
        with worded("keep what was displayed"), self._folders.made(session) as folder:
            return outputs.put(folder, stream_id, mime, data, title)

    def get_output(self, session: str, name: str) -> tuple[str, bytes]:
        with worded(f"read {name!r}"), self._folders.opened(session) as folder:
            if folder is None:
                raise FileMissing(f"There is no session {session!r}.")
            return outputs.get(folder, name)

    def output_as_json(self, session: str, name: str) -> Json:
        """As a chat gets it: text, or base64 for what is none."""
        mime, data = self.get_output(session, name)
        is_text = mime.startswith("text/")
        shown = data.decode("utf-8", "replace") if is_text else base64.b64encode(data).decode("ascii")
        return {"name": name, "mime": mime, "data": shown}

    # ---- inside

    def _is_time_to_prune(self) -> bool:
        with self._lock:
            self._until_prune -= 1
            if self._until_prune >= 0:
                return False
            self._until_prune = _PRUNE_EVERY
            return True


def meta_of(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """The rows of the supplement, from the history."""
    return [
        {"timestamp": m.timestamp, "source": m.source, "appletSlug": m.applet_slug, "prompt": m.content}
        for m in messages
        if m.role == "user"
    ]
