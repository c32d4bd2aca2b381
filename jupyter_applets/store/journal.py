"""The journal of a session: one JSON line for each thing that was said or done, read back as messages.

Lines are only ever appended, all of a call in one write. What a crash tore, or another program garbled, is passed over.
A line is in the hands of the system when `append` returns: a killed server loses none, a power cut may take the last.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ..errors import PathRefused, StoreError
from ..protocol.base import Json
from ..protocol.markers import parse
from ..protocol.sessions import ChatMessage, Output, ToolCall
from .private import MODE

FILE = "events.jsonl"
INTERRUPTED = "This answer was interrupted: the server or the kernel stopped."
UNANSWERED = "It was not answered before the end."

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Line(msgspec.Struct, rename="camel"):
    """As much of a line as is read. Other programs may write only `type` and `data.content`."""

    type: str
    data: dict[str, Any] = {}
    timestamp: str = ""
    stream_id: str = ""
    hidden: bool = False


class Reading(NamedTuple):
    messages: list[ChatMessage]
    broken: int
    """How many lines were passed over; the last one, if it has no end yet, may be under way and is not counted."""


_line = msgspec.json.Decoder(Line)
_KNOWN = {"user.message", "assistant.message", "tool.execution_start", "tool.execution_complete"}


def encode(value: Json) -> bytes:
    """One line of JSON."""
    try:
        try:
            return msgspec.json.encode(value)
        except UnicodeEncodeError:  # half of a pair of characters, as a cut in JavaScript leaves it
            text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text.encode("utf-8", "replace")
    except (TypeError, ValueError, OverflowError, RecursionError) as e:
        raise StoreError(f"What was said cannot be kept: {e}") from None


def append(folder: int, lines: Sequence[Json]) -> None:
    """Add these, in an open folder."""
    text = b"".join(encode(line) + b"\n" for line in lines)
    if not text:
        return
    descriptor = os.open(FILE, _FLAGS, MODE, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PathRefused(f"{FILE} is not a plain file, and is not written to.")
        if found.st_size and os.pread(descriptor, 1, found.st_size - 1) != b"\n":
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
        self.began = ""
        self.asked: ChatMessage | None = None
        self.answer: ChatMessage | None = None
        self.calls: dict[str, ToolCall] = {}


def read(data: bytes, outputs: Mapping[str, list[Output]] = {}) -> Reading:
    """The messages of a journal. Of turn n, the prompt has index 2n, and the answer 2n + 1."""
    turns: dict[str, _Turn] = {}
    last = ""
    broken = 0
    pieces = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, raw in enumerate(pieces):
        if not raw or raw.isspace():
            continue
        try:
            line = _line.decode(raw)
            if line.type not in _KNOWN:
                continue
            content = line.data["content"] if line.type == "user.message" else line.data.get("content", "")
            if not isinstance(content, str):
                raise TypeError("content is no text")
        except (ValueError, KeyError, TypeError, RecursionError):
            broken += number < len(pieces) - 1
            continue
        stream_id = last = line.stream_id or _stream(line, number, turns.get(last))
        turn = turns.get(stream_id)
        if turn is None:
            turn = turns[stream_id] = _Turn(stream_id)
        _take(turn, line, content)
    found = [m for n, turn in enumerate(turns.values()) for m in _messages(n, turn, outputs.get(turn.id, []))]
    return Reading(found, broken)


def _stream(line: Line, number: int, before: _Turn | None) -> str:
    """The turn of a line that does not say: an answer and its tools belong to the prompt before."""
    if before is None or line.type == "user.message":
        return f"line-{number}"
    if line.type == "assistant.message" and before.answer is not None:
        return f"line-{number}"
    return before.id


def _take(turn: _Turn, line: Line, content: str) -> None:
    data = line.data
    turn.began = turn.began or line.timestamp
    match line.type:
        case "user.message":
            source, slug, prompt = parse(content)
            turn.asked = ChatMessage(
                0, "user", source, prompt, line.timestamp, turn.id, slug, line.hidden, image=_text(data.get("image"))
            )
        case "assistant.message":
            error = _error(data.get("error")) or (INTERRUPTED if data.get("interrupted") is True else None)
            turn.answer = ChatMessage(
                0, "assistant", "assistant", content, line.timestamp, turn.id, hidden=line.hidden, error=error
            )
        case _:
            call = _text(data.get("toolCallId")) or "?"
            before = turn.calls.get(call) or ToolCall(call, "tool")
            name = _text(data.get("toolName")) or before.name
            arguments = data.get("arguments", before.arguments)
            error = _error(data.get("error")) or ("The tool failed." if data.get("success") is False else None)
            done = line.type == "tool.execution_complete"
            turn.calls[call] = ToolCall(call, name, arguments, data.get("result"), error, done)


def _messages(number: int, turn: _Turn, outputs: list[Output]) -> Iterator[ChatMessage]:
    replace = msgspec.structs.replace
    asked = turn.asked
    if asked is not None:
        yield replace(asked, index=2 * number)
        # What came with the prompt is shown there.
        outputs = [output for output in outputs if output.name != asked.image]
    answer = turn.answer or ChatMessage(0, "assistant", "assistant", "", turn.began, turn.id, error=INTERRUPTED)
    calls = [
        call if call.done else replace(call, error=call.error or UNANSWERED, done=True) for call in turn.calls.values()
    ]
    hidden = answer.hidden or (asked is not None and asked.hidden)
    yield replace(answer, index=2 * number + 1, hidden=hidden, tool_calls=calls, outputs=outputs)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _error(value: Any) -> str | None:
    """In other programs' journals an error may be an object with a message."""
    return _text(value.get("message") if isinstance(value, dict) else value)
