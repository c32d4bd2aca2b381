"""Desks: pages that show all windows of a session, and which window a call means that names none."""

from __future__ import annotations

import pytest

from jupyter_applets.protocol.link import Activate, CloseWindow, ErrorReply, WatchWindows, WindowClosed, WindowList

from .conversation import Conversation


@pytest.fixture
def talk() -> Conversation:
    talk = Conversation()
    talk.kernel()
    talk.page()
    return talk


def lists(talk: Conversation, page: str = "page") -> list[tuple[list[str], str | None]]:
    return [([w.window_id for w in m.windows], m.active) for m in talk.messages(WindowList, page)]


def set_content(talk: Conversation, **more: str) -> str:
    name: str = talk.value(talk.call("set_applet_content", {"html": "<p>", **more}))["windowId"]
    return name


def test_desk_is_told_what_there_is_and_whenever_that_changes(talk: Conversation) -> None:
    talk.open_window("a")
    talk.receive("page", WatchWindows())
    assert lists(talk) == [(["a"], None)]
    set_content(talk, windowId="b", title="B")
    assert lists(talk)[-1] == (["a", "b"], "b")
    talk.call("close_window", {"windowId": "a"})
    assert lists(talk)[-1] == (["b"], "b")


def test_desk_is_not_told_what_it_knows(talk: Conversation) -> None:
    talk.receive("page", WatchWindows())
    set_content(talk)
    before = len(lists(talk))
    talk.call("set_applet_state", {"data": {"n": 1}})
    talk.call("list_windows", {})
    assert len(lists(talk)) == before


def test_desk_hears_of_titles_revisions_and_readiness(talk: Conversation) -> None:
    talk.receive("page", WatchWindows())
    talk.open_window("a", title="One")
    talk.open_window("a", 2, title="Two")
    talk.show("v1", "a", revision=2)
    talk.ready("v1", "a")
    told = [(w.title, w.revision, w.ready) for m in talk.messages(WindowList)[1:] for w in m.windows]
    assert list(dict.fromkeys(told)) == [("One", 1, False), ("Two", 2, False), ("Two", 2, True)]


def test_desk_of_another_session_hears_nothing(talk: Conversation) -> None:
    talk.page("far", session="elsewhere")
    talk.receive("far", WatchWindows())
    set_content(talk)
    assert lists(talk, "far") == [([], None)]


def test_desk_that_looks_away_or_leaves_is_told_no_more(talk: Conversation) -> None:
    talk.page("second")
    for page in ("page", "second"):
        talk.receive(page, WatchWindows())
    talk.receive("page", WatchWindows(False))
    talk.disconnect("second")
    set_content(talk)
    assert lists(talk) == [([], None)]
    assert lists(talk, "second") == [([], None)]


def test_content_is_seen_where_a_desk_is_open(talk: Conversation) -> None:
    arguments = {"html": "<p>"}
    told = talk.value(talk.call("set_applet_content", arguments))
    assert (told["shown"], "Desk()" in told["note"]) == (False, True)
    talk.receive("page", WatchWindows())
    again = talk.value(talk.call("set_applet_content", arguments))
    assert again == {"windowId": "applet-1", "shown": True, "replaced": "applet-1"}


def test_window_that_a_person_turns_to_is_what_a_call_means(talk: Conversation) -> None:
    set_content(talk, windowId="a", title="A")
    set_content(talk, windowId="b", title="B")
    assert talk.value(talk.call("get_applet_state", {}))["windowId"] == "b"
    talk.receive("page", Activate("a"))
    assert talk.value(talk.call("get_applet_state", {}))["windowId"] == "a"
    assert [w["active"] for w in talk.value(talk.call("list_windows", {}))] == [True, False]
    assert set_content(talk) == "a"


def test_without_an_active_window_the_one_that_came_last_is_read(talk: Conversation) -> None:
    talk.open_window("a")
    talk.open_window("b")
    assert talk.value(talk.call("get_applet_state", {}))["windowId"] == "b"
    set_content(talk, windowId="c")
    talk.call("close_window", {"windowId": "c"})
    assert talk.value(talk.call("get_applet_state", {}))["windowId"] == "b"


def test_each_session_has_an_active_window_of_its_own(talk: Conversation) -> None:
    talk.kernel("other", session="elsewhere")
    set_content(talk, windowId="a")
    call = talk.call("get_applet_state", {}, kernel="other")
    assert talk.reply(call, "other").value["windowId"] is None  # type: ignore[union-attr]


def test_person_closes_a_window_for_everyone(talk: Conversation) -> None:
    talk.page("second")
    set_content(talk, windowId="a")
    talk.show("v2", "a", page="second", revision=0)
    talk.receive("page", CloseWindow("a"))
    assert talk.messages(WindowClosed, "second") == [WindowClosed("a")]
    assert talk.messages(WindowClosed, "kernel") == [WindowClosed("a")]
    assert talk.value(talk.call("list_windows", {})) == []


@pytest.mark.parametrize("message", [Activate("gone"), CloseWindow("gone")])
def test_window_that_is_gone_is_an_error_that_says_so(talk: Conversation, message: object) -> None:
    talk.receive("page", message)
    assert talk.messages(ErrorReply)[-1].code == "WINDOW_NOT_FOUND"
