"""Contents: what an agent sets and where it goes, what streams, and who is told."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_applets.protocol.app import AppProtocolResponse, DomAnswer, DomAsk
from jupyter_applets.protocol.link import Call, ContentChunk, WatchWindows, WindowContent

from .conversation import Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


def set_content(talk: Conversation, html: str = "<p>agent", **more: Any) -> Any:
    return talk.value(talk.call("set_applet_content", {"html": html, **more}))


def content_of(talk: Conversation, window: str, session: str = "nb") -> Any:
    found = talk.host.windows.get(session, window)
    assert found is not None
    return found.content


# ---- where it goes


def test_content_without_a_window_opens_a_new_one_and_then_replaces_it(talk: Conversation) -> None:
    assert set_content(talk)["windowId"] == "applet-1"
    assert set_content(talk, "<p>second", title="Second")["windowId"] == "applet-1"
    assert content_of(talk, "applet-1").html == "<p>second"
    assert len(talk.host.windows) == 2


def test_window_of_a_widget_is_not_taken_unless_it_is_named(talk: Conversation) -> None:
    set_content(talk)
    assert content_of(talk, "sheet").html == "<p>"
    assert set_content(talk, windowId="sheet")["shown"] is True
    assert content_of(talk, "sheet").html == "<p>agent"


def test_name_that_is_taken_is_not_given_to_a_new_window(talk: Conversation) -> None:
    talk.open_window("applet-1")
    assert set_content(talk)["windowId"] == "applet-2"


def test_named_session_is_where_it_goes_and_whose_active_window_is_meant(talk: Conversation) -> None:
    talk.kernel("other", session="elsewhere")
    talk.call("set_applet_content", {"html": "<p>there", "windowId": "front"}, kernel="other")
    set_content(talk, windowId="here")
    assert set_content(talk, "<p>to there", session="elsewhere")["windowId"] == "front"
    assert content_of(talk, "front", "elsewhere").html == "<p>to there"
    assert talk.host.windows.get("elsewhere", "here") is None


def test_new_content_is_a_new_document_without_state_and_log(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {}})
    talk.call("set_applet_state", {"windowId": "sheet", "data": {"n": 1}})
    pending = talk.query("cells")
    set_content(talk, windowId="sheet", js="go()", css="p{}", permissions={"files": "read"})
    assert talk.error(pending).code == "VIEW_GONE"
    told = talk.messages(WindowContent)[-1]
    assert told.content is not None
    assert (told.revision, told.state, told.run) == (2, {}, "run")
    assert (told.content.js, told.content.css, told.content.permissions) == ("go()", "p{}", {"files": "read"})
    talk.ready(document=2)
    assert talk.commands_to("v1") == [("setCells", False)]


def test_same_content_again_is_a_new_document_too(talk: Conversation) -> None:
    set_content(talk, windowId="sheet")
    set_content(talk, windowId="sheet")
    assert [m.revision for m in talk.messages(WindowContent)[-2:]] == [2, 3]


# ---- who is told


def test_kernels_are_told_of_content_that_others_set(talk: Conversation) -> None:
    talk.kernel("second")
    set_content(talk, windowId="sheet")
    for kernel in ("kernel", "second"):
        told = talk.messages(WindowContent, kernel)[-1]
        assert (told.window_id, told.revision, told.content and told.content.html) == ("sheet", 2, "<p>agent")


def test_kernel_is_not_told_what_its_own_widget_shows(talk: Conversation) -> None:
    talk.kernel("second")
    talk.open_window(revision=2, html="<p>mine")
    assert talk.messages(WindowContent, "kernel") == []
    assert [m.revision for m in talk.messages(WindowContent, "second")] == [2]


def test_content_is_kept_for_the_next_page() -> None:
    talk = Conversation()
    talk.kernel()
    told = set_content(talk, title="Kept")
    assert told["shown"] is False
    talk.page()
    talk.receive("page", WatchWindows())
    talk.show("v1", "applet-1", revision=0)
    content = talk.messages(WindowContent)[-1].content
    assert content is not None
    assert content.html == "<p>agent"


# ---- streaming


def stream(talk: Conversation, revision: int, html: str) -> Any:
    return talk.value(talk.call("stream_content", {"windowId": "sheet", "revision": revision, "html": html}))


def test_html_streams_in_pieces_that_say_where_they_belong(talk: Conversation) -> None:
    talk.open_window(revision=2, html="", streaming=True)
    assert [stream(talk, 2, piece) for piece in ("<p>", "ä€", "</p>")] == [True] * 3
    chunks = talk.messages(ContentChunk)
    assert [(c.revision, c.at, c.html) for c in chunks] == [(2, 0, "<p>"), (2, 3, "ä€"), (2, 5, "</p>")]
    talk.open_window(revision=3, html="<p>ä€</p>")
    told = talk.messages(WindowContent)[-1]
    assert (told.revision, told.content and told.content.streaming) == (3, False)


@pytest.mark.parametrize("state", [{"document": 0}, {"document": 1, "ready": True}])
def test_view_that_comes_or_asks_while_it_streams_gets_all_so_far(talk: Conversation, state: Any) -> None:
    talk.open_window(revision=2, html="", streaming=True)
    talk.show("v2", revision=2, **state)
    stream(talk, 2, "<p>one")
    for view in ("v2", "v3"):
        talk.show(view, revision=2, **state)
        told = talk.messages(WindowContent)[-1]
        assert told.content is not None
        assert (told.view_id, told.content.html, told.content.streaming) == (view, "<p>one", True)


def test_pieces_for_a_content_that_was_replaced_go_nowhere(talk: Conversation) -> None:
    talk.open_window(revision=2, html="", streaming=True)
    talk.open_window(revision=3, html="<p>whole")
    assert stream(talk, 2, "late") is False
    assert stream(talk, 3, "not streaming") is True
    assert content_of(talk, "sheet").html == "<p>whole"
    assert talk.messages(ContentChunk) == []


# ---- the live document


def test_document_is_read_before_its_applet_has_registered() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.open_window()
    call = talk.call("get_applet_state", {"windowId": "sheet", "selector": "p", "format": "text"})
    assert not talk.asked()
    talk.show()
    [request] = talk.asked()
    assert request.request == DomAsk("p", "text")
    answer = AppProtocolResponse(request.request_id, "sheet", DomAnswer({"text": "hello"}))
    talk.receive("page", answer)
    assert talk.value(call) == {"text": "hello"}


def test_document_of_an_applet_without_the_app_protocol_is_read_too(talk: Conversation) -> None:
    talk.open_window(revision=2, html="<p>plain", appProtocol=False)
    talk.show(revision=2, document=2)
    talk.call("get_applet_state", {"windowId": "sheet", "selector": "p"})
    assert isinstance(talk.asked()[-1].request, DomAsk)
    assert talk.error(talk.query("cells")).code == "NOT_OPTED_IN"


def test_document_that_nobody_shows_cannot_be_read() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window()
    call = talk.call("get_applet_state", {"windowId": "sheet", "selector": "p"})
    talk.wait(10)
    assert talk.error(call).code == "NOT_SHOWN"


# ---- whatever happens inside


def test_tool_that_fails_inside_still_gives_one_answer(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(talk.host, "show", fails)
    assert talk.error(talk.call("set_applet_content", {"html": ""})).code == "INTERNAL_ERROR"


def test_message_that_fails_inside_is_answered_and_the_next_is_served(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(talk.host.windows, "find", fails)
        talk.receive("kernel", Call("c", "get_applet_logs", {"windowId": "sheet"}))
    assert talk.error("c").code == "INTERNAL_ERROR"
    assert talk.value(talk.call("get_applet_logs", {"windowId": "sheet"})) == []
