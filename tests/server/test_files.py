"""`api/applet/file` and `api/applet/list` for the user, who is logged in: what they give, take and refuse."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse
from tornado.simple_httpclient import HTTPStreamClosedError

from ..running_server import Ask

FILE, LIST = "api/applet/file", "api/applet/list"
BYTES = {"Content-Type": "application/octet-stream"}


def value(response: HTTPResponse) -> Any:
    assert response.headers["Content-Type"] == "application/json"
    return json.loads(response.body)


def refused(response: HTTPResponse, status: int, code: str) -> str:
    """Its sentence; it is told as JSON and without a traceback."""
    assert response.code == status, response.body
    told = value(response)
    assert told["code"] == code
    assert "Traceback" not in response.body.decode()
    assert set(told) <= {"code", "message", "names"}
    sentence: str = told["message"]
    assert sentence
    return sentence


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("data", "content", "encoding"),
    [
        (b"hello", "hello", "utf-8"),
        ('größer 🙂\n"\\\x07'.encode(), 'größer 🙂\n"\\\x07', "utf-8"),
        (b"", "", "utf-8"),
        (b"\xff\x00\xfe", base64.b64encode(b"\xff\x00\xfe").decode(), "base64"),
    ],
)
async def test_file_is_read_as_text_or_as_base64(
    ask: Ask, jp_root_dir: Path, data: bytes, content: str, encoding: str
) -> None:
    (jp_root_dir / "a.dat").write_bytes(data)
    response = await ask(FILE, path="a.dat")
    told = value(response)
    assert (told.pop("version"), told) == (
        response.headers["ETag"].strip('"'),
        {"content": content, "encoding": encoding},
    )
    raw = await ask(FILE, path="a.dat", raw=1)
    assert raw.body == data
    assert raw.headers["Content-Type"] == "application/octet-stream"
    assert raw.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in raw.headers["Content-Security-Policy"]
    assert raw.headers["Content-Length"] == str(len(data))
    assert raw.headers["ETag"] == response.headers["ETag"]


async def test_relative_and_absolute_paths_inside_the_root_are_the_same_file(ask: Ask, jp_root_dir: Path) -> None:
    (jp_root_dir / "sub folder").mkdir()
    file = jp_root_dir / "sub folder" / "ä +&%.txt"
    file.write_text("x")
    for path in ("sub folder/ä +&%.txt", "./sub folder//ä +&%.txt", str(file)):
        assert value(await ask(FILE, path=path))["content"] == "x", path


@pytest.mark.parametrize(
    ("asked", "part", "told"),
    [
        ("bytes=0-0", b"0", "bytes 0-0/10"),
        ("bytes=2-4", b"234", "bytes 2-4/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=-3", b"789", "bytes 7-9/10"),
        ("bytes=-99", b"0123456789", "bytes 0-9/10"),
        ("bytes=8-99", b"89", "bytes 8-9/10"),
        (" bytes=9-9 ", b"9", "bytes 9-9/10"),
    ],
)
async def test_range_gives_a_part(ask: Ask, jp_root_dir: Path, asked: str, part: bytes, told: str) -> None:
    (jp_root_dir / "a.txt").write_bytes(b"0123456789")
    raw = await ask(FILE, headers={"Range": asked}, path="a.txt", raw=1)
    assert (raw.code, raw.body, raw.headers["Content-Range"]) == (206, part, told)
    assert raw.headers["Content-Length"] == str(len(part))
    assert raw.headers["Accept-Ranges"] == "bytes"
    response = await ask(FILE, headers={"Range": asked}, path="a.txt")
    assert (response.code, response.headers["Content-Range"]) == (206, told)
    assert value(response)["content"] == part.decode()


async def test_range_that_cuts_a_character_is_base64(ask: Ask, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("ää")
    told = value(await ask(FILE, headers={"Range": "bytes=0-2"}, path="a.txt"))
    assert (told["encoding"], base64.b64decode(told["content"])) == ("base64", "ää".encode()[:3])


@pytest.mark.parametrize("raw", [0, 1])
@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=10-11", "bytes=-0", "bytes=5-4", f"bytes={'9' * 18}-"])
async def test_range_beyond_the_end_is_416(ask: Ask, jp_root_dir: Path, asked: str, raw: int) -> None:
    (jp_root_dir / "a.txt").write_bytes(b"0123456789")
    response = await ask(FILE, headers={"Range": asked}, path="a.txt", raw=raw)
    assert (response.code, response.headers["Content-Range"], response.body) == (416, "bytes */10", b"")


@pytest.mark.parametrize("asked", ["bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-1,3-4", f"bytes={'9' * 5000}-"])
async def test_range_of_another_kind_gives_the_whole(ask: Ask, jp_root_dir: Path, asked: str) -> None:
    (jp_root_dir / "a.txt").write_bytes(b"0123456789")
    response = await ask(FILE, headers={"Range": asked}, path="a.txt", raw=1)
    assert (response.code, response.body) == (200, b"0123456789")


async def test_version_that_is_known_is_not_sent_again(ask: Ask, jp_root_dir: Path) -> None:
    file = jp_root_dir / "a.txt"
    file.write_text("one")
    etag = (await ask(FILE, path="a.txt")).headers["ETag"]
    for raw in (0, 1):
        for known in (etag, f"W/{etag}", f'"x", {etag}'):
            response = await ask(FILE, headers={"If-None-Match": known}, path="a.txt", raw=raw)
            assert (response.code, response.body, response.headers["ETag"]) == (304, b"", etag)
    assert (await ask(FILE, headers={"If-Range": etag, "Range": "bytes=1-"}, path="a.txt", raw=1)).body == b"ne"
    file.write_text("another")
    response = await ask(FILE, headers={"If-None-Match": etag}, path="a.txt", raw=1)
    assert (response.code, response.body) == (200, b"another")
    response = await ask(FILE, headers={"If-Range": etag, "Range": "bytes=1-"}, path="a.txt", raw=1)
    assert (response.code, response.body) == (200, b"another"), "a part of another version fits nothing"


async def test_file_that_is_cut_while_it_is_sent_ends_the_connection(
    ask: Ask, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shorter body than was announced must not pass for the whole."""
    file = jp_root_dir / "a.bin"
    file.write_bytes(bytes(8_000_000))
    from jupyter_applets.workspace.reading import Reading

    chunks = Reading.chunks

    def cut(reading: Reading, *args: Any) -> Any:
        for number, piece in enumerate(chunks(reading, *args)):
            if number == 1:
                os.truncate(file, 3_000_000)
            yield piece

    monkeypatch.setattr(Reading, "chunks", cut)
    with pytest.raises(HTTPStreamClosedError):
        await ask(FILE, path="a.bin", raw=1)
    monkeypatch.undo()
    assert value(await ask(FILE, path="a.bin"))["encoding"] == "utf-8"


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_file_is_written_with_the_folders_above_it(ask: Ask, jp_root_dir: Path) -> None:
    told = value(await ask(FILE, "POST", {"content": "größer"}, path="new/deep/a.txt"))
    assert (jp_root_dir / "new" / "deep" / "a.txt").read_text() == "größer"
    assert told == {"ok": True, "version": value(await ask(FILE, path="new/deep/a.txt"))["version"]}
    data = bytes(range(256))
    body = {"content": base64.b64encode(data).decode(), "encoding": "base64"}
    assert value(await ask(FILE, "POST", body, path=str(jp_root_dir / "b.bin")))["ok"] is True
    assert (jp_root_dir / "b.bin").read_bytes() == data
    assert value(await ask(FILE, "POST", data[::-1], BYTES, path="b.bin"))["ok"] is True
    assert (jp_root_dir / "b.bin").read_bytes() == data[::-1]
    assert value(await ask(FILE, "POST", b"", BYTES, path="b.bin"))["ok"] is True
    assert (jp_root_dir / "b.bin").read_bytes() == b""


async def test_version_before_is_kept(ask: Ask, jp_root_dir: Path) -> None:
    for content in ("one", "two"):
        await ask(FILE, "POST", {"content": content}, path="notes/a.txt")
    kept = [file for file in (jp_root_dir / ".jupyter-applets" / "backups").rglob("*") if file.is_file()]
    assert "one" in [file.read_text() for file in kept]


async def test_conflict_is_told_and_nothing_is_lost(ask: Ask, jp_root_dir: Path) -> None:
    first = value(await ask(FILE, "POST", {"content": "one"}, path="a.txt"))["version"]
    second = value(await ask(FILE, "POST", {"content": "two", "ifMatch": first}, path="a.txt"))["version"]
    for response in (
        await ask(FILE, "POST", {"content": "three", "ifMatch": first}, path="a.txt"),
        await ask(FILE, "POST", b"three", BYTES, path="a.txt", ifMatch=first),
    ):
        refused(response, 412, "VERSION_CONFLICT")
        assert (jp_root_dir / "a.txt").read_text() == "two"
    assert value(await ask(FILE, "POST", b"three", BYTES, path="a.txt", ifMatch=second))["ok"]
    gone = await ask(FILE, "POST", {"content": "x", "ifMatch": "*"}, path="b.txt")
    refused(gone, 412, "VERSION_CONFLICT")
    assert not (jp_root_dir / "b.txt").exists()


# ── listing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_folder_is_listed(ask: Ask, jp_root_dir: Path) -> None:
    folder = jp_root_dir / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "b.txt").write_text("12345")
    os.utime(folder / "b.txt", ns=(0, 1_700_000_000_123_000_000))
    files = value(await ask(LIST, path="data"))["files"]
    assert [(entry["name"], entry["type"]) for entry in files] == [("b.txt", "file"), ("inner", "directory")]
    assert files[0] == {"name": "b.txt", "type": "file", "size": 5, "modified": "2023-11-14T22:13:20.123Z"}
    assert value(await ask(LIST, path=str(folder)))["files"] == files
    assert value(await ask(LIST, path="data/inner")) == {"files": []}


async def test_root_is_listed_by_every_name_it_has(ask: Ask, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("x")
    (jp_root_dir / ".env").write_text("secret")
    for query in ({}, {"path": ""}, {"path": "."}, {"path": str(jp_root_dir)}):
        names = [entry["name"] for entry in value(await ask(LIST, **query))["files"]]
        assert "a.txt" in names
        assert ".env" not in names
        assert ".jupyter-applets" not in names


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_is_missing_is_404(ask: Ask, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("x")
    for path in ("none.txt", "none/a.txt", "a.txt/b"):
        refused(await ask(FILE, path=path), 404, "FILE_MISSING")
        refused(await ask(LIST, path=path), 404, "FILE_MISSING")
    refused(await ask(LIST, path="a.txt"), 404, "FILE_MISSING")


async def test_request_of_the_wrong_shape_is_400(ask: Ask, jp_root_dir: Path) -> None:
    for body in ("", "nonsense", "[]", "{}", '{"content": 1}', '{"content": "x"', b"\xff", "[" * 5_000):
        refused(await ask(FILE, "POST", body, path="a.txt"), 400, "INVALID_ARGUMENTS")
    for more in ({"encoding": "latin-1"}, {"encoding": 7}, {"ifMatch": 7}):
        refused(await ask(FILE, "POST", {"content": "x", **more}, path="a.txt"), 400, "INVALID_ARGUMENTS")
    for content in ("!!!", "abc", "ä"):
        body = {"content": content, "encoding": "base64"}
        refused(await ask(FILE, "POST", body, path="a.txt"), 400, "INVALID_ARGUMENTS")
    assert "?path=" in refused(await ask(FILE), 400, "INVALID_ARGUMENTS")
    refused(await ask(FILE, "POST", {"content": "x"}), 400, "INVALID_ARGUMENTS")
    refused(await ask(f"{FILE}?path=%ff"), 400, "INVALID_ARGUMENTS")
    refused(await ask(f"{LIST}?path=%c3%28"), 400, "INVALID_ARGUMENTS")
    assert not (jp_root_dir / "a.txt").exists()


async def test_folder_is_neither_read_nor_written_as_a_file(ask: Ask, jp_root_dir: Path) -> None:
    (jp_root_dir / "data").mkdir()
    for path in ("data", ".", str(jp_root_dir)):
        refused(await ask(FILE, path=path), 403, "PATH_REFUSED")
        refused(await ask(FILE, "POST", {"content": "x"}, path=path), 403, "PATH_REFUSED")


async def test_verb_that_there_is_not_is_405(ask: Ask) -> None:
    refused(await ask(FILE, "DELETE", path="a.txt"), 405, "METHOD_NOT_ALLOWED")
    refused(await ask(LIST, "POST", "{}", path="a.txt"), 405, "METHOD_NOT_ALLOWED")


async def test_bug_of_ours_is_told_without_a_traceback(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> None:
        raise ZeroDivisionError("inner words")

    monkeypatch.setattr("jupyter_applets.workspace.files.Workspace.list", fails)
    response = await ask(LIST, path="")
    assert "inner words" not in refused(response, 500, "INTERNAL_ERROR")
