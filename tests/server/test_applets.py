"""`api/applets`: saved applets for pages, with the versions that keep two of them from undoing each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..running_server import Ask, reply
from .test_files import refused, value

APPLETS = "api/applets"
SHEET = {"html": "<p>Sheet</p>", "js": "let a = 1;", "css": "p {}", "name": "Sheet", "description": "Cells"}


def one(slug: str) -> str:
    return f"{APPLETS}/{slug}"


async def test_applet_is_put_listed_got_and_deleted(ask: Ask, jp_root_dir: Path) -> None:
    body = {**SHEET, "permissions": {"files": "read"}, "state": {"a": 1}, "appProtocol": True}
    response = await ask(one("sheet"), "PUT", body)
    assert response.code == 201
    saved = value(response)
    folder = jp_root_dir / "applets" / "sheet"
    assert (folder / "content.html").read_text().strip() == "<p>Sheet</p>"
    assert json.loads((folder / "app.json").read_text())["permissions"] == {"files": "read"}
    assert json.loads((folder / "state.json").read_text()) == {"a": 1}
    got = await ask(one("sheet"))
    assert value(got) == saved
    assert got.headers["ETag"] == response.headers["ETag"] == f'"{saved["version"]}"'
    assert {key: saved[key] for key in (*SHEET, "slug", "shipped", "appProtocol", "state")} == {
        **SHEET,
        "slug": "sheet",
        "shipped": False,
        "appProtocol": True,
        "state": {"a": 1},
    }
    listed = {entry["slug"]: entry for entry in value(await ask(APPLETS))}
    assert listed["sheet"]["name"] == "Sheet"
    assert str(folder) in json.dumps(listed["sheet"])
    gone = value(await ask(one("sheet"), "DELETE"))
    assert (gone["ok"], gone["slug"]) == (True, "sheet")
    assert (jp_root_dir / gone["movedTo"]).is_dir(), "it can be taken back"
    refused(await ask(one("sheet")), 404, "APPLET_NOT_FOUND")
    assert "sheet" not in [entry["slug"] for entry in value(await ask(APPLETS))]


async def test_list_is_what_the_tool_lists(ask: Ask, make_link: Any) -> None:
    await ask(one("sheet"), "PUT", SHEET)
    assert value(await ask(APPLETS)) == await reply(make_link().call("list_applets", {}))


async def test_saving_the_same_changes_nothing(ask: Ask) -> None:
    first = await ask(one("sheet"), "PUT", SHEET)
    again = await ask(one("sheet"), "PUT", SHEET)
    assert (first.code, again.code) == (201, 200)
    assert value(again) == value(first)


async def test_version_that_is_known_is_not_sent_again(ask: Ask) -> None:
    etag = (await ask(one("sheet"), "PUT", SHEET)).headers["ETag"]
    known = {"If-None-Match": etag}
    response = await ask(one("sheet"), headers=known)
    assert (response.code, response.body) == (304, b"")
    await ask(one("sheet"), "PUT", {**SHEET, "js": "let a = 2;"})
    assert value(await ask(one("sheet"), headers=known))["js"].strip() == "let a = 2;"


async def test_other_version_is_neither_replaced_nor_deleted(ask: Ask, jp_root_dir: Path) -> None:
    old = {"If-Match": (await ask(one("sheet"), "PUT", SHEET)).headers["ETag"]}
    changed = await ask(one("sheet"), "PUT", {**SHEET, "js": "let a = 2;"}, old)
    assert changed.code == 200
    refused(await ask(one("sheet"), "PUT", {**SHEET, "js": "let a = 3;"}, old), 412, "VERSION_CONFLICT")
    refused(await ask(one("sheet"), "DELETE", headers=old), 412, "VERSION_CONFLICT")
    assert (jp_root_dir / "applets" / "sheet" / "script.js").read_text().strip() == "let a = 2;"
    new = {"If-Match": changed.headers["ETag"]}
    assert value(await ask(one("sheet"), "DELETE", headers=new))["ok"]
    refused(await ask(one("sheet"), "PUT", SHEET, new), 412, "VERSION_CONFLICT")
    refused(await ask(one("sheet"), "PUT", SHEET, {"If-Match": "*"}), 412, "VERSION_CONFLICT")


async def test_applet_that_must_be_new_replaces_none(ask: Ask) -> None:
    new = {"If-None-Match": "*"}
    assert (await ask(one("sheet"), "PUT", SHEET, new)).code == 201
    refused(await ask(one("sheet"), "PUT", {**SHEET, "js": "other"}, new), 412, "VERSION_CONFLICT")
    refused(await ask(one("calculator"), "PUT", SHEET, new), 412, "VERSION_CONFLICT")
    assert value(await ask(one("sheet")))["js"].strip() == "let a = 1;"


async def test_shipped_applet_is_there_and_stays(ask: Ask) -> None:
    shipped = value(await ask(one("calculator")))
    assert shipped["shipped"] is True
    assert (await ask(one("calculator"), "DELETE")).code == 400
    assert value(await ask(one("calculator"))) == shipped
    # Saved under its name, the user's own comes first, until that is deleted.
    assert (await ask(one("calculator"), "PUT", SHEET)).code == 200
    assert value(await ask(one("calculator")))["shipped"] is False
    assert value(await ask(one("calculator"), "DELETE"))["ok"]
    assert value(await ask(one("calculator"))) == shipped


async def test_broken_applet_is_listed_with_the_reason_and_can_be_deleted(ask: Ask, jp_root_dir: Path) -> None:
    await ask(one("good"), "PUT", SHEET)
    folder = jp_root_dir / "applets" / "broken"
    folder.mkdir()
    (folder / "meta.json").write_text("{")
    listed = {entry["slug"]: entry for entry in value(await ask(APPLETS))}
    assert listed["broken"]["broken"]
    assert "broken" not in listed["good"]
    refused(await ask(one("broken")), 409, "BROKEN_APPLET")
    assert value(await ask(one("broken"), "DELETE"))["ok"]
    assert not folder.exists()


async def test_decisions_go_with_the_applet(ask: Ask, make_link: Any, open_page: Any, jp_root_dir: Path) -> None:
    """Another applet may get its name."""
    await ask(one("sheet"), "PUT", SHEET)
    link, page = make_link(), await open_page()
    await reply(link.call("load_applet", {"slug": "sheet", "windowId": "w"}))
    await page.hello()
    await page.send({"type": "permit", "windowId": "w", "permission": "files", "value": "write", "id": "1"})
    assert (await page.next())["type"] == "result"
    await ask(one("sheet"), "DELETE")
    await ask(one("sheet"), "PUT", SHEET)
    await reply(link.call("load_applet", {"slug": "sheet", "windowId": "w2"}))
    query = {"path": "", "session": "nb", "windowId": "w2"}
    refused(await ask("api/applet/list", **query), 403, "PERMISSION_NEEDED")
    assert "sheet" not in (jp_root_dir / ".jupyter-applets" / "permissions.json").read_text()


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"html": 1}', '{"html": "", "state": []}', "nonsense", b"\xff"])
async def test_body_of_the_wrong_shape_is_400(ask: Ask, jp_root_dir: Path, body: str | bytes) -> None:
    refused(await ask(one("sheet"), "PUT", body), 400, "INVALID_ARGUMENTS")
    assert not (jp_root_dir / "applets" / "sheet").exists()


@pytest.mark.parametrize("slug", ["UPPER", "-a", "a-", "a_b", "_index.json", "x" * 65, "%2e%2e", "a%2Fb", "a%00", "ä"])
async def test_name_that_is_no_slug_is_400(ask: Ask, jp_root_dir: Path, slug: str) -> None:
    from urllib.parse import quote

    path = one(quote(slug, safe="%"))
    for response in (await ask(path), await ask(path, "PUT", SHEET), await ask(path, "DELETE")):
        refused(response, 400, "INVALID_SLUG")
    assert not (jp_root_dir / "applets").exists()


async def test_what_was_got_can_be_put_back_with_its_modules(ask: Ask, jp_root_dir: Path) -> None:
    saved = value(await ask(one("sheet"), "PUT", {**SHEET, "modules": {"lib": "export default 1"}}))
    body = {key: saved[key] for key in (*SHEET, "modules", "permissions", "state")}
    assert value(await ask(one("sheet"), "PUT", body))["modules"] == saved["modules"]
    [module] = (jp_root_dir / "applets" / "sheet" / "modules").iterdir()
    assert module.read_text() == "export default 1"
