"""The journal of a session: one JSON line for each thing that was said or done, read back as messages.

Lines are only ever appended, each whole in one write. What a crash tore, or another program garbled, is passed over.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ..protocol.base import Json
from ..protocol.markers import parse
from ..protocol.sessions import ChatMessage, Output, ToolCall

FILE = "events.jsonl"
INTERRUPTED = "This answer was interrupted: the server or the kernel stopped."

_log = logging.getLogger(__name__)


class Line(msgspec.Struct, rename="camel"):
    """As much of a line as is read. Other programs may write only `type` and `data.content`."""

    type: str
    data: dict[str, Any] = {}
    timestamp: str = ""
    stream_id: str = ""
    hidden: bool = False


_line = msgspec.json.Decoder(Line)


def append(folder: int, lines: Sequence[Json]) -> None:
    """Add these, in an open folder."""
    text = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(FILE, flags, 0o600, dir_fd=folder)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            text = b"\n" + text  # what a crash tore stands by itself
        view = memoryview(text)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


class _Turn:
    """What the lines of one turn say."""

    def __init__(self, stream_id: str) -> None:
        self.id = stream_id
        self.asked: ChatMessage | None = None
        self.answer: ChatMessage | None = None
        self.calls: dict[str, ToolCall] = {}


def read(data: bytes, outputs: Iterable[tuple[str, Output]] = ()) -> list[ChatMessage]:
    """The messages of a journal. Of turn n, the prompt has index 2n, and the answer 2n + 1."""
    turns: dict[str, _Turn] = {}
    last = ""
    broken = 0
    for number, raw in enumerate(data.split(b"\n")):
        if not raw.strip():
            continue
        try:
            line = _line.decode(raw)
            content = line.data.get("content", "")
            if not isinstance(content, str):
                raise msgspec.ValidationError("content is no text")
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            broken += 1
            continue
        stream_id = line.stream_id or (f"line-{number}" if line.type == "user.message" or not last else last)
        last = stream_id
        turn = turns.get(stream_id)
        if turn is None:
            turn = turns[stream_id] = _Turn(stream_id)
        _take(turn, line, content)
    if broken:
        _log.warning("%d lines of a journal cannot be read, and are passed over", broken)
    shown: dict[str, list[Output]] = {}
    for stream_id, output in outputs:
        shown.setdefault(stream_id, []).append(output)
    return [m for n, turn in enumerate(turns.values()) for m in _messages(n, turn, shown.get(turn.id, []))]


def _take(turn: _Turn, line: Line, content: str) -> None:
    data = line.data
    match line.type:
        case "user.message":
            source, slug, prompt = parse(content)
            turn.asked = ChatMessage(
                0, "user", source, prompt, line.timestamp, turn.id, slug, line.hidden, image=_text(data.get("image"))
            )
        case "assistant.message":
            turn.answer = ChatMessage(
                0,
                "assistant",
                "assistant",
                content,
                line.timestamp,
                turn.id,
                hidden=line.hidden,
                error=_text(data.get("error")),
            )
        case "tool.execution_start" | "tool.execution_complete":
            name, call = _text(data.get("toolName")) or "tool", _text(data.get("toolCallId")) or "?"
            before = turn.calls.get(call) or ToolCall(call, name)
            arguments = data.get("arguments", before.arguments)
            done = line.type == "tool.execution_complete"
            turn.calls[call] = ToolCall(call, name, arguments, data.get("result"), _text(data.get("error")), done)


def _messages(number: int, turn: _Turn, outputs: list[Output]) -> Iterable[ChatMessage]:
    replace = msgspec.structs.replace
    # What came with the prompt is shown there.
    mine = [output for output in outputs if turn.asked is None or output.name != turn.asked.image]
    if turn.asked is not None:
        yield replace(turn.asked, index=2 * number)
    answer = turn.answer
    if answer is None:
        asked = turn.asked
        if asked is None:
            return
        answer = ChatMessage(
            0, "assistant", "assistant", "", asked.timestamp, turn.id, hidden=asked.hidden, error=INTERRUPTED
        )
    calls = [
        call if call.done else replace(call, error="It was not answered before the end.", done=True)
        for call in turn.calls.values()
    ]
    yield replace(answer, index=2 * number + 1, tool_calls=calls, outputs=mine)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
