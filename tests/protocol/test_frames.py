"""Frames: batches as text, buffers as binary, and what is neither."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_applets.errors import InvalidMessage
from jupyter_applets.protocol.frames import Codec, Wrong, encode, join, pack, unpack
from jupyter_applets.protocol.link import Call, Cancel, FromKernel

codec: Codec[FromKernel] = Codec(FromKernel)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.lists(st.tuples(st.text(), st.dictionaries(st.text(), json_values)), max_size=5))
def test_batch_comes_back_as_it_was(calls: list) -> None:
    messages = [Call(str(i), name, arguments) for i, (name, arguments) in enumerate(calls)]
    assert codec.decode(encode(messages)) == messages


@given(st.lists(st.binary(min_size=1, max_size=30)), st.integers(10, 100))
def test_joined_frames_keep_the_order_and_the_limit(texts: list[bytes], limit: int) -> None:
    frames = join(texts, limit)
    assert b",".join(frame[1:-1] for frame in frames) == b",".join(texts)
    assert all(len(frame) <= max(limit, 32) for frame in frames)


def test_single_message_is_a_batch_of_one() -> None:
    assert codec.decode(encode(Cancel("a"))) == [Cancel("a")]


@pytest.mark.parametrize("frame", ["", "nonsense", "{", b"\xff\xfe", "[" * 100_000, '{"a":' * 100_000, "\x00"])
def test_frame_that_is_no_json_is_one_wrong_message(frame: str | bytes) -> None:
    [wrong] = codec.decode(frame)
    assert isinstance(wrong, Wrong)


@given(st.text() | st.binary())
def test_any_frame_is_read_or_refused_but_never_breaks(frame: str | bytes) -> None:
    codec.decode(frame)


def test_wrong_call_keeps_the_id_it_is_to_be_answered_under() -> None:
    [wrong] = codec.decode('{"type":"call","id":"c7","name":3}')
    assert isinstance(wrong, Wrong)
    assert wrong.id == "c7"
    assert "name" in wrong.error.message


@given(st.lists(st.binary(max_size=100), max_size=6))
def test_buffers_come_back_aligned_and_uncopied(buffers: list[bytes]) -> None:
    frame = pack([Cancel("a")], buffers)
    text, views = unpack(frame)
    assert codec.decode(text) == [Cancel("a")]
    assert [bytes(view) for view in views] == buffers
    assert all(view.obj is frame for view in views)
    (header,) = struct.unpack_from("<I", frame)
    offset = 4 + header
    for buffer in buffers:
        offset += -offset % 8
        assert frame[offset : offset + len(buffer)] == buffer
        offset += len(buffer)


def test_binary_frame_is_the_one_both_languages_know() -> None:
    frame = pack([Cancel("a")], [b"\x01\x02\x03", b"\x04"])
    header = b'{"messages":[{"type":"cancel","id":"a"}],"buffers":[3,1]}'
    start = 4 + len(header)
    padding = bytes(-start % 8)
    assert frame == struct.pack("<I", len(header)) + header + padding + b"\x01\x02\x03" + bytes(5) + b"\x04"


@given(st.binary(max_size=60))
def test_any_binary_frame_is_read_or_refused_but_never_breaks(frame: bytes) -> None:
    with contextlib.suppress(InvalidMessage):
        unpack(frame)


@pytest.mark.parametrize(
    "header", [b"{}", b'{"messages":[],"buffers":[-1]}', b'{"messages":[],"buffers":[99]}', b"[]", b"nonsense"]
)
def test_binary_frame_whose_header_lies_is_refused(header: bytes) -> None:
    with pytest.raises(InvalidMessage):
        unpack(struct.pack("<I", len(header)) + header + bytes(16))
