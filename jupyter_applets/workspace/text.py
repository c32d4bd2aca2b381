"""File content as JSON carries it: UTF-8 as text, other bytes as base64; and back."""

from __future__ import annotations

import base64
import binascii
import codecs
from collections.abc import Iterator
from typing import Literal

import msgspec

from ..errors import InvalidArguments, StorageFailed
from .reading import Reading

Encoding = Literal["utf-8", "base64"]

# Of three bytes base64 makes four characters, so pieces of this size join without padding between them.
_PIECE = 3 * 64 * 1024


def as_text(data: bytes) -> tuple[str, Encoding]:
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(data).decode("ascii"), "base64"


def from_text(content: str, encoding: str | None = None) -> bytes:
    if encoding in (None, "utf-8"):
        try:
            return content.encode()
        except UnicodeEncodeError:
            raise InvalidArguments(
                "The content holds half of a character pair, which UTF-8 cannot; use base64."
            ) from None
    if encoding == "base64":
        try:
            return base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidArguments("The content is not valid base64.") from None
    raise InvalidArguments(f"There is no encoding {encoding!r}.", names=["utf-8", "base64"])


def text_chunks(reading: Reading, start: int = 0, stop: int | None = None) -> tuple[Encoding, Iterator[str]]:
    """The pieces of a file of any size as text, or, when it is none, as base64, each whole by itself."""
    if _is_utf8(reading, start, stop):
        return "utf-8", _decoded(reading, start, stop)
    return "base64", (base64.b64encode(chunk).decode("ascii") for chunk in reading.chunks(start, stop, _PIECE))


def json_chunks(reading: Reading, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """`{"content", "encoding", "version"}` of a file of any size, in pieces; the file is read twice, never held."""
    encoding, pieces = text_chunks(reading, start, stop)
    yield b'{"content":"'
    for piece in pieces:
        yield msgspec.json.encode(piece)[1:-1]
    yield b'","encoding":' + msgspec.json.encode(encoding)
    yield b',"version":' + msgspec.json.encode(reading.version) + b"}"


def _is_utf8(reading: Reading, start: int, stop: int | None) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in reading.chunks(start, stop):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(reading: Reading, start: int, stop: int | None) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in reading.chunks(start, stop):
            yield decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise StorageFailed(f"{reading.path!r} changed while it was read.") from None
