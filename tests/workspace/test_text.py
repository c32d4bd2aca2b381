"""Content as JSON carries it: text stays text, bytes come back as they were, whatever the size."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_applets.errors import InvalidArguments
from jupyter_applets.workspace import reading as readings
from jupyter_applets.workspace.reading import Reading
from jupyter_applets.workspace.text import as_text, from_text, json_chunks

CONTENT = st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode(errors="replace")))


@given(CONTENT)
def test_content_comes_back_as_it_was(data: bytes) -> None:
    content, encoding = as_text(data)
    assert from_text(content, encoding) == data
    assert json.loads(json.dumps(content)) == content


def test_text_is_text_and_the_rest_is_base64() -> None:
    assert as_text("a\0é\ufeff".encode()) == ("a\0é\ufeff", "utf-8")
    assert as_text(b"\xff") == ("/w==", "base64")
    assert from_text("é") == "é".encode()


@pytest.mark.parametrize(
    ("content", "encoding"), [("%%%", "base64"), ("YQ", "base64"), ("é", "base64"), ("a", "latin-1")]
)
def test_what_is_not_in_the_encoding_is_refused(content: str, encoding: str) -> None:
    with pytest.raises(InvalidArguments):
        from_text(content, encoding)


def test_half_of_a_character_pair_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="half"):
        from_text("\ud800")


@given(data=CONTENT, size=st.integers(min_value=1, max_value=9))
def test_stream_means_what_the_whole_would(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    file = tmp_path_factory.getbasetemp() / "stream"
    file.write_bytes(data)
    with Reading("stream", os.open(file, os.O_RDONLY)) as reading, pytest.MonkeyPatch.context() as patch:
        # Characters and escapes fall across the pieces.
        patch.setattr(readings.Reading.chunks, "__defaults__", (0, None, size))
        streamed = b"".join(json_chunks(reading))
        content, encoding = as_text(data)
        assert json.loads(streamed) == {"content": content, "encoding": encoding, "version": reading.version}


@pytest.mark.parametrize("piece", [b'text \xc3\xa9 " \n' * 1_000, bytes(range(256)) * 50])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, piece: bytes) -> None:
    file = tmp_path / "large"
    with file.open("wb") as out:
        for _ in range(20_000_000 // len(piece)):
            out.write(piece)
    with Reading("large", os.open(file, os.O_RDONLY)) as reading:
        tracemalloc.start()
        total = sum(map(len, json_chunks(reading)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert total > file.stat().st_size
    assert peak < 4_000_000
