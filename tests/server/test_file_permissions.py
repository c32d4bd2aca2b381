"""Files for an applet, whose window is named: permissions hold, a person is asked, and everything is written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from ..running_server import Ask, reply
from .test_files import BYTES, FILE, LIST, refused, value


@pytest.fixture
def show(make_link: Any) -> Any:
    """Open a window with these permissions, as a kernel does."""
    link = make_link()

    async def show(window_id: str, **permissions: Any) -> None:
        content = {"html": "<p>", "title": "Notes", "permissions": permissions, "windowId": window_id}
        await reply(link.call("set_applet_content", content))

    return show


def applet(**query: Any) -> dict[str, Any]:
    return {"session": "nb", "windowId": "w", **query}


def audited(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / ".jupyter-applets" / "audit.jsonl").read_text().splitlines()]


async def write(ask: Ask, content: str, **query: Any) -> HTTPResponse:
    return await ask(FILE, "POST", {"content": content}, **query)


async def test_nothing_is_permitted_that_was_not_declared(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("before")
    await show("w")
    assert "may not read 'a.txt'" in refused(await ask(FILE, **applet(path="a.txt")), 403, "PERMISSION_NEEDED")
    refused(await ask(FILE, **applet(path="a.txt", raw=1)), 403, "PERMISSION_NEEDED")
    refused(await ask(LIST, **applet(path="")), 403, "PERMISSION_NEEDED")
    refused(await write(ask, "after", **applet(path="a.txt")), 403, "PERMISSION_NEEDED")
    refused(await ask(FILE, "POST", b"after", BYTES, **applet(path="new.txt")), 403, "PERMISSION_NEEDED")
    assert (jp_root_dir / "a.txt").read_text() == "before"
    assert not (jp_root_dir / "new.txt").exists()


async def test_person_who_agrees_once_is_obeyed_once(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("before")
    await show("w")
    assert value(await ask(FILE, **applet(path="a.txt", consent=1)))["content"] == "before"
    assert value(await ask(LIST, **applet(path="", consent=1)))["files"]
    assert value(await write(ask, "after", **applet(path="a.txt", consent=1)))["ok"]
    assert (jp_root_dir / "a.txt").read_text() == "after"
    refused(await ask(FILE, **applet(path="a.txt")), 403, "PERMISSION_NEEDED")


async def test_declared_permission_is_enough(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("before")
    await show("w", files="read")
    assert value(await ask(FILE, **applet(path="a.txt")))["content"] == "before"
    assert value(await ask(LIST, **applet()))["files"]
    refused(await write(ask, "after", **applet(path="a.txt")), 403, "PERMISSION_NEEDED")
    await show("w", files="write")
    assert value(await write(ask, "new", **applet(path="b.txt")))["ok"], "a new file needs nobody's word"


async def test_person_who_said_no_is_obeyed(ask: Ask, show: Any, open_page: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("before")
    await show("w")
    page = await open_page()
    await page.hello()
    await page.send({"type": "permit", "windowId": "w", "permission": "files", "value": False, "id": "1"})
    assert (await page.next())["type"] == "result"
    refused(await ask(FILE, **applet(path="a.txt")), 403, "PERMISSION_DENIED")
    await page.send({"type": "permit", "windowId": "w", "permission": "files", "value": "read", "id": "2"})
    assert (await page.next())["type"] == "result"
    assert value(await ask(FILE, **applet(path="a.txt")))["content"] == "before"


async def test_overwriting_what_it_has_not_read_asks_first(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (jp_root_dir / name).write_text("before")
    await show("w", files="write")
    message = refused(await write(ask, "after", **applet(path="a.txt")), 409, "CONSENT_NEEDED")
    assert "Notes would overwrite 'a.txt'" in message
    assert (jp_root_dir / "a.txt").read_text() == "before"
    # With a person's word it may, and after a read, by whatever name.
    assert value(await write(ask, "after", **applet(path="a.txt", consent=1)))["ok"]
    assert value(await write(ask, "again", **applet(path=str(jp_root_dir / "a.txt"))))["ok"]
    await ask(FILE, **applet(path="./b.txt", raw=1))
    assert value(await write(ask, "after", **applet(path="b.txt")))["ok"]
    refused(await write(ask, "after", **applet(path="c.txt")), 409, "CONSENT_NEEDED")
    # Another content knows nothing of it.
    await show("w", files="write")
    refused(await write(ask, "after", **applet(path="b.txt")), 409, "CONSENT_NEEDED")


async def test_window_that_is_not_there_is_404(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("x")
    await show("w", files="write")
    for query in ({"windowId": "other"}, {"windowId": "w", "session": "other"}, {"windowId": ""}):
        refused(await ask(FILE, path="a.txt", **query), 404, "WINDOW_NOT_FOUND")
        refused(await write(ask, "x", path="a.txt", **query), 404, "WINDOW_NOT_FOUND")
        refused(await ask(LIST, **query), 404, "WINDOW_NOT_FOUND")


async def test_state_of_another_applet_is_out_of_reach(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "applets" / "other").mkdir(parents=True)
    (jp_root_dir / "applets" / "other" / "state.json").write_text("{}")
    await show("w", files="write")
    path = "applets/other/state.json"
    for answer in (
        await ask(FILE, **applet(path=path, consent=1)),
        await write(ask, "{}", **applet(path=path, consent=1)),
    ):
        refused(answer, 403, "PATH_REFUSED")
    assert value(await ask(LIST, **applet(path="applets/other")))["files"] == []


async def test_every_operation_is_written_down_with_its_window(ask: Ask, show: Any, jp_root_dir: Path) -> None:
    await show("w", files="write")
    await write(ask, "one", **applet(path="a.txt"))
    await ask(FILE, **applet(path="a.txt"))
    await ask(FILE, **applet(path="a.txt", raw=1))
    await ask(LIST, **applet(path=""))
    await ask(FILE, **applet(path=".env"))
    (jp_root_dir / "b.txt").write_text("not read")
    await write(ask, "two", **applet(path="b.txt"))
    await write(ask, "two", **applet(path=".env"))
    await ask(FILE, path="a.txt", session="nb")
    lines = audited(jp_root_dir)
    told = [(line["verb"], line["path"], line["ok"], line.get("bytes")) for line in lines if line["windowId"] == "w"]
    assert told == [
        ("write", "a.txt", True, 3),
        ("read", "a.txt", True, 3),
        ("read", "a.txt", True, 3),
        ("list", "", True, None),
        ("read", ".env", False, None),
        ("write", "b.txt", False, None),
        ("write", ".env", False, None),
    ]
    assert {(line["actor"], line["session"]) for line in lines if line["windowId"] == "w"} == {("applet", "nb")}
    assert (lines[-1]["actor"], lines[-1]["windowId"], lines[-1]["session"]) == ("user", "", "nb")
    assert [line["code"] for line in lines if not line["ok"]] == ["PATH_REFUSED", "CONSENT_NEEDED", "PATH_REFUSED"]
