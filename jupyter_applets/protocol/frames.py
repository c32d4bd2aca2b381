"""Frames: how messages are put on a wire, in batches, as text or, with buffers, as binary.

A text frame is one JSON message or a JSON array of them. A binary frame is a u32 (little endian) with the header's
length, the header `{"messages": […], "buffers": [length, …]}`, and the buffers, each at a multiple of 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from ..errors import InvalidMessage

M = TypeVar("M")
ALIGNMENT = 8

_REQUEST_ID = re.compile(r'"requestId":\s?"([^"\\]{1,100})"')

_encoder = msgspec.json.Encoder()
_any = msgspec.json.Decoder()


def encode(messages: Any) -> bytes:
    """One text frame for a message or a list of them."""
    return _encoder.encode(messages)


def join(texts: Sequence[bytes], limit: int) -> list[bytes]:
    """Text frames of messages that are encoded already: as few as can be with none over `limit`."""
    frames: list[list[bytes]] = []
    room = 0
    for text in texts:
        if len(text) + 1 > room:
            frames.append([])
            room = limit - 2
        room -= len(text) + 1
        frames[-1].append(text)
    return [b"[" + b",".join(frame) + b"]" for frame in frames]


class Wrong(msgspec.Struct, frozen=True):
    """A message that fits no type: what to tell its sender, and the ids it asks to be answered under, or answers."""

    error: InvalidMessage
    id: str | None
    request_id: str | None = None


class Codec(Generic[M]):
    """Reads the messages of one direction, given as a union of message types."""

    def __init__(self, union: Any) -> None:
        self._one = union
        self._batch: msgspec.json.Decoder[Any] = msgspec.json.Decoder(list[union] | union)

    def decode(self, frame: str | bytes) -> list[M | Wrong]:
        """The frame's messages, with a `Wrong` in the place of each that fits no type."""
        try:
            batch = self._batch.decode(frame)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return self._decode_one_by_one(frame)
        return batch if isinstance(batch, list) else [batch]

    def _decode_one_by_one(self, frame: str | bytes) -> list[M | Wrong]:
        try:
            raw = _any.decode(frame)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as e:
            error = InvalidMessage(f"A frame must be JSON, and not nested too deeply: {e}")
            return [Wrong(error, None, request_id) for request_id in _answered_in(frame)] or [Wrong(error, None)]
        return [self.convert(item) for item in (raw if isinstance(raw, list) else [raw])]

    def convert(self, raw: Any) -> M | Wrong:
        """One message given as plain JSON data, as a comm delivers it."""
        try:
            message: M = msgspec.convert(raw, self._one)
        except (msgspec.ValidationError, RecursionError) as e:
            fields = raw if isinstance(raw, dict) else {}
            kind = fields.get("type")
            of = f" of type {kind!r}" if isinstance(kind, str) else ""
            asked, answers = (_text(fields.get(name)) for name in ("id", "requestId"))
            return Wrong(InvalidMessage(f"A message{of} was refused: {e}"), asked, answers)
        return message


def _answered_in(frame: str | bytes) -> list[str]:
    """The requests that a frame answers which cannot be read, so that nobody waits for the answers in vain."""
    text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
    return list(dict.fromkeys(_REQUEST_ID.findall(text)))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def pack(messages: Sequence[Any], buffers: Sequence[bytes | memoryview]) -> bytes:
    """One binary frame: `messages` and the raw `buffers` they refer to by index."""
    header = _encoder.encode({"messages": messages, "buffers": [len(b) for b in buffers]})
    parts: list[bytes | memoryview] = [len(header).to_bytes(4, "little"), header]
    at = 4 + len(header)
    for buffer in buffers:
        gap = -at % ALIGNMENT
        parts += [bytes(gap), buffer]
        at += gap + len(buffer)
    return b"".join(parts)


def unpack(frame: bytes) -> tuple[bytes, list[memoryview]]:
    """The header's messages, still as JSON for a `Codec`, and views of the buffers (nothing is copied)."""
    view = memoryview(frame)
    if len(view) < 4:
        raise InvalidMessage("A binary frame is shorter than its header's length.")
    at = 4 + int.from_bytes(view[:4], "little")
    if at > len(view):
        raise InvalidMessage("A binary frame's header is longer than the frame.")
    try:
        header = _header.decode(view[4:at])
    except (msgspec.DecodeError, RecursionError) as e:
        raise InvalidMessage(f"A binary frame's header was refused: {e}") from None
    return bytes(header.messages), list(_slices(view, at, header.buffers))


class _Header(msgspec.Struct, frozen=True):
    messages: msgspec.Raw
    buffers: list[int]


_header = msgspec.json.Decoder(_Header)


def _slices(view: memoryview, at: int, lengths: Iterable[int]) -> Iterable[memoryview]:
    for length in lengths:
        at += -at % ALIGNMENT
        if length < 0 or at + length > len(view):
            raise InvalidMessage("A binary frame's buffers are longer than the frame.")
        yield view[at : at + length]
        at += length
