"""A plain WebSocket on `ws/applet?session=` that knows the seed's messages only: no hello, no `id`, no `windowId`."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from ..running_server import Ask, OpenPage, Page, reply, until

WAIT = 10


async def frame(page: Page) -> Any:
    """The next frame: one message, as a client without batches has to get it."""
    message = json.loads(await asyncio.wait_for(page.socket.read_message(), WAIT))
    assert isinstance(message, dict)
    return message


async def kernel_with_a_window(make_link: Any) -> Any:
    link = make_link()
    await reply(link.call("set_applet_content", {"html": "<p>", "windowId": "w"}))
    return link


async def whole(page: Page, path: str) -> tuple[str, list[dict[str, Any]]]:
    """All pieces of a file, in one and each."""
    pieces = [await frame(page)]
    while not pieces[-1]["done"]:
        pieces.append(await frame(page))
    assert {piece["path"] for piece in pieces} == {path}
    return "".join(piece["chunk"] for piece in pieces), pieces


# ── state ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_state_that_is_set_is_there_for_http_and_for_kernels(
    make_link: Any, open_page: OpenPage, ask: Ask
) -> None:
    link, page = await kernel_with_a_window(make_link), await open_page()
    await page.send({"type": "setState", "data": {"cells": {"A1": 1}}}, {"type": "setState", "data": {"b": None}})
    await page.send({"type": "listFiles"})
    assert (await frame(page))["type"] == "fileList", "setState itself is not answered"
    told = json.loads((await ask("api/applet/state", session="nb")).body)
    assert told["state"] == {"cells": {"A1": 1}, "b": None}
    state = await reply(link.call("get_applet_state", {}))
    assert (state["state"], state["windowId"], state["hasApplet"]) == (told["state"], "w", True)


async def test_state_that_a_kernel_sets_arrives_as_the_seed_has_it(make_link: Any, open_page: OpenPage) -> None:
    link = await kernel_with_a_window(make_link)
    page, other = await open_page(), await open_page(session="other")
    await reply(link.call("set_applet_state", {"data": {"progress": 50, "status": "Processing..."}}))
    assert await frame(page) == {"type": "stateUpdate", "data": {"progress": 50, "status": "Processing..."}}
    await page.send({"type": "setState", "data": {"mine": 1}})
    await reply(link.call("set_applet_state", {"data": {"progress": 51}}))
    assert await frame(page) == {"type": "stateUpdate", "data": {"progress": 51}}, "its own change is not told back"
    await other.send({"type": "listFiles"})
    assert (await frame(other))["type"] == "fileList", "another session hears nothing of it"


async def test_state_without_a_window_is_an_error(open_page: OpenPage) -> None:
    page = await open_page(session="empty")
    await page.send({"type": "setState", "data": {"a": 1}})
    error = await frame(page)
    assert (error["type"], error["code"]) == ("error", "WINDOW_NOT_FOUND")
    assert "id" not in error


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_small_file_is_one_piece(open_page: OpenPage, jp_root_dir: Path) -> None:
    page = await open_page()
    for name, text in (("a.txt", "größer"), ("empty", "")):
        (jp_root_dir / name).write_text(text)
        await page.send({"type": "readFile", "path": name})
        assert await frame(page) == {"type": "fileContent", "path": name, "chunk": text, "done": True}


async def test_large_file_comes_in_pieces_that_cut_no_character(open_page: OpenPage, jp_root_dir: Path) -> None:
    page = await open_page()
    text = "x" + "ä🙂" * 500_000
    (jp_root_dir / "large.txt").write_text(text)
    await page.send({"type": "readFile", "path": str(jp_root_dir / "large.txt")})
    joined, pieces = await whole(page, str(jp_root_dir / "large.txt"))
    assert joined == text
    assert len(pieces) > 5
    assert [piece["done"] for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert {tuple(sorted(piece)) for piece in pieces} == {("chunk", "done", "path", "type")}


async def test_bytes_that_are_no_text_come_as_base64(open_page: OpenPage, jp_root_dir: Path) -> None:
    page = await open_page()
    data = bytes(range(256)) * 3_000
    (jp_root_dir / "a.bin").write_bytes(data)
    await page.send({"type": "readFile", "path": "a.bin"})
    _, pieces = await whole(page, "a.bin")
    assert b"".join(base64.b64decode(piece["chunk"]) for piece in pieces) == data
    assert {piece["encoding"] for piece in pieces} == {"base64"}


async def test_file_is_written_then_read(open_page: OpenPage, jp_root_dir: Path) -> None:
    page = await open_page()
    await page.send(
        {"type": "writeFile", "path": "new/a.txt", "content": "one"}, {"type": "readFile", "path": "new/a.txt"}
    )
    written = await frame(page)
    assert written.pop("version")
    assert written == {"type": "fileWritten", "path": "new/a.txt"}
    assert (await frame(page))["chunk"] == "one"
    assert (jp_root_dir / "new" / "a.txt").read_text() == "one"


async def test_folder_is_listed(open_page: OpenPage, jp_root_dir: Path) -> None:
    (jp_root_dir / "data" / "inner").mkdir(parents=True)
    (jp_root_dir / "data" / "a.txt").write_text("12345")
    page = await open_page()
    await page.send({"type": "listFiles", "path": "data"})
    listed = await frame(page)
    assert (listed["type"], listed["path"]) == ("fileList", "data")
    assert [(entry["name"], entry["type"]) for entry in listed["files"]] == [("a.txt", "file"), ("inner", "directory")]
    assert set(listed["files"][0]) == {"name", "type", "size", "modified"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "readFile", "path": "none.txt"}, "FILE_MISSING"),
        ({"type": "readFile", "path": "../x"}, "PATH_REFUSED"),
        ({"type": "readFile", "path": ".env"}, "PATH_REFUSED"),
        ({"type": "readFile"}, "INVALID_MESSAGE"),
        ({"type": "readFile", "path": 7}, "INVALID_MESSAGE"),
        ({"type": "writeFile", "path": ".git/config", "content": ""}, "PATH_REFUSED"),
        ({"type": "writeFile", "path": "a.txt"}, "INVALID_MESSAGE"),
        ({"type": "writeFile", "path": "a.txt", "content": "!", "encoding": "base64"}, "INVALID_ARGUMENTS"),
        ({"type": "writeFile", "path": "a.txt", "content": "x", "ifMatch": "y"}, "VERSION_CONFLICT"),
        ({"type": "listFiles", "path": "none"}, "FILE_MISSING"),
        ({"type": "subscribe", "path": "/etc/passwd"}, "PATH_REFUSED"),
        ({"type": "readFile", "path": "a.txt", "windowId": "none"}, "WINDOW_NOT_FOUND"),
    ],
)
async def test_error_is_told_under_the_id_if_there_is_one(
    open_page: OpenPage, message: dict[str, Any], code: str
) -> None:
    page = await open_page()
    await page.send(message)
    plain = await frame(page)
    assert (plain["type"], plain["code"]) == ("error", code)
    assert set(plain) <= {"type", "code", "message", "names"}
    await page.send({**message, "id": "7"})
    error = await frame(page)
    assert (error["type"], error["code"], error["id"]) == ("error", code, "7")


async def test_every_operation_is_written_down(open_page: OpenPage, jp_root_dir: Path) -> None:
    page = await open_page()
    for number, (kind, more) in enumerate(
        [("writeFile", {"content": "x"}), ("readFile", {}), ("subscribe", {}), ("listFiles", {"path": ""})]
    ):
        await page.send({"type": kind, "path": "a.txt", "id": str(number), **more})
        await frame(page)
    lines = [json.loads(line) for line in (jp_root_dir / ".jupyter-applets" / "audit.jsonl").read_text().splitlines()]
    assert [(line["verb"], line["actor"], line["session"]) for line in lines] == [
        (verb, "user", "nb") for verb in ("write", "read", "watch", "list")
    ]


# ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_subscriber_hears_of_each_change(open_page: OpenPage, jp_root_dir: Path) -> None:
    page = await open_page()
    file = jp_root_dir / "a.txt"
    await page.send({"type": "subscribe", "path": "a.txt"})
    # In line behind the subscription, so the file is watched when this is answered.
    await page.send({"type": "writeFile", "path": "other.txt", "content": "x"})
    assert (await frame(page))["type"] == "fileWritten"
    file.write_text("one")
    assert await frame(page) == {"type": "fileChanged", "path": "a.txt", "event": "created"}
    file.write_text("another")
    assert await frame(page) == {"type": "fileChanged", "path": "a.txt", "event": "modified"}
    file.unlink()
    assert await frame(page) == {"type": "fileChanged", "path": "a.txt", "event": "deleted"}


async def test_subscriber_of_a_folder_hears_of_what_is_in_it_by_the_name_it_gave(
    open_page: OpenPage, jp_root_dir: Path
) -> None:
    (jp_root_dir / "data").mkdir()
    page = await open_page()
    await page.send({"type": "subscribe", "path": f"{jp_root_dir}/data", "id": "1"})
    assert (await frame(page))["id"] == "1"
    (jp_root_dir / "data" / "a.txt").write_text("one")
    assert await frame(page) == {"type": "fileChanged", "path": f"{jp_root_dir}/data/a.txt", "event": "created"}


async def test_who_has_unsubscribed_hears_no_more(open_page: OpenPage, jp_root_dir: Path) -> None:
    page, other = await open_page(), await open_page(session="other")
    for each in (page, other):
        await each.send({"type": "subscribe", "path": "a.txt", "id": "1"})
        assert (await frame(each))["type"] == "result"
    await page.send({"type": "unsubscribe", "path": "a.txt", "id": "2"})
    assert (await frame(page))["id"] == "2"
    (jp_root_dir / "a.txt").write_text("one")
    assert (await frame(other))["event"] == "created"
    await page.send({"type": "listFiles", "id": "3"})
    assert (await frame(page))["id"] == "3"


async def test_socket_that_closes_takes_its_subscriptions_with_it(
    open_page: OpenPage, jp_serverapp: Any, jp_root_dir: Path
) -> None:
    page = await open_page()
    await page.send({"type": "subscribe", "path": "a.txt", "id": "1"})
    assert (await frame(page))["type"] == "result"
    host = jp_serverapp.web_app.settings["jupyter_applets_driver"].host
    assert host.subscriptions.told("a.txt")
    page.socket.close()
    await until(lambda: not host.subscriptions.told("a.txt"))
