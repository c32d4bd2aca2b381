"""`api/applet/state`, for whoever has no socket; `api/health`; the bundles that a page loads once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ..running_server import Ask, OpenPage, reply
from .test_files import refused, value

STATE = "api/applet/state"
NOTHING = {"state": {}, "windowId": None, "activeSlug": None, "appletTitle": None, "hasApplet": False}


async def open_window(link: Any, window_id: str, title: str = "") -> None:
    await reply(link.call("set_applet_content", {"html": "<p>", "title": title, "windowId": window_id}))


async def test_session_without_a_window_has_no_state(ask: Ask) -> None:
    assert value(await ask(STATE)) == value(await ask(STATE, session="nb")) == NOTHING
    message = refused(await ask(STATE, "POST", {"data": {}}, session="nb"), 404, "WINDOW_NOT_FOUND")
    assert "'nb'" in message


async def test_state_is_posted_and_got(ask: Ask, make_link: Any) -> None:
    link = make_link()
    await open_window(link, "one", "One")
    await open_window(link, "two", "Two")
    assert value(await ask(STATE, "POST", {"data": {"a": 1, "b": [1]}}, session="nb"))["ok"]
    assert value(await ask(STATE, "POST", {"data": {"a": 2}}, session="nb", windowId="two"))["ok"]
    assert value(await ask(STATE, session="nb")) == {
        "state": {"a": 2, "b": [1]},
        "windowId": "two",
        "activeSlug": None,
        "appletTitle": "Two",
        "hasApplet": True,
    }
    assert value(await ask(STATE, session="nb", windowId="one"))["state"] == {}
    assert (await reply(link.call("get_applet_state", {"windowId": "two"})))["state"] == {"a": 2, "b": [1]}


async def test_state_that_is_posted_reaches_views_and_plain_sockets(
    ask: Ask, make_link: Any, open_page: OpenPage
) -> None:
    await open_window(make_link(), "w")
    page, plain = await open_page(), await open_page()
    await page.hello({"viewId": "v", "windowId": "w", "revision": 1, "document": 1})
    rev = value(await ask(STATE, "POST", {"data": {"a": 1}}, session="nb"))["rev"]
    assert await plain.next() == {"type": "stateUpdate", "data": {"a": 1}}
    assert await page.next() == {"type": "stateUpdate", "data": {"a": 1}, "windowId": "w", "viewId": "v", "rev": rev}


async def test_window_is_found_without_its_session_unless_two_have_it(ask: Ask, make_link: Any) -> None:
    await open_window(make_link(), "w", "Mine")
    assert value(await ask(STATE, windowId="w"))["appletTitle"] == "Mine"
    await open_window(make_link(session="other"), "w", "Theirs")
    assert "other" in refused(await ask(STATE, windowId="w"), 409, "AMBIGUOUS_WINDOW")
    assert value(await ask(STATE, windowId="w", session="other"))["appletTitle"] == "Theirs"
    refused(await ask(STATE, windowId="none"), 404, "WINDOW_NOT_FOUND")


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"data": []}', '{"data": 1}', "nonsense", b"\xff", "[" * 5_000])
async def test_body_of_the_wrong_shape_is_400(ask: Ask, make_link: Any, body: str | bytes) -> None:
    await open_window(make_link(), "w")
    refused(await ask(STATE, "POST", body, session="nb"), 400, "INVALID_ARGUMENTS")


async def test_state_nested_to_the_limit_is_told_or_refused_but_no_bug(ask: Ask, make_link: Any) -> None:
    await open_window(make_link(), "w")
    for depth in (100, 900, 950, 980, 990, 1_000):
        body = f'{{"data": {{"deep": {"[" * depth}{"]" * depth}}}}}'
        assert (await ask(STATE, "POST", body, session="nb")).code in (200, 400)
        assert (await ask(STATE, session="nb")).code in (200, 400)


async def test_health_counts(ask: Ask, make_link: Any) -> None:
    assert value(await ask("api/health"))["windows"] == 0
    await open_window(make_link(), "w")
    await open_window(make_link(session="other"), "w")
    told = value(await ask("api/health"))
    assert (told["windows"], told["sessions"]) == (2, 2)
    assert told["version"]


@pytest.mark.parametrize("name", ["desk.js", "lexer.js"])
async def test_bundle_is_sent_as_a_script_once(ask: Ask, name: str) -> None:
    response = await ask(f"static/{name}", v="1")
    assert response.code == 200
    assert response.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert len(response.body) > 100
    again = await ask(f"static/{name}", headers={"If-None-Match": response.headers["ETag"]})
    assert (again.code, again.body) == (304, b"")


@pytest.mark.parametrize("name", ["applet.js", "..%2Fapplet.py", "desk.js%00", "DESK.JS", ""])
async def test_nothing_else_of_the_package_is_sent(ask: Ask, name: str) -> None:
    response = await ask(f"static/{name}")
    assert response.code == 404
    assert "import" not in json.dumps(response.body.decode())
