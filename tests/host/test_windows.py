"""Windows: whose content they show, who may take them over, and when they end."""

from __future__ import annotations

import pytest

from jupyter_applets.protocol.app import AppManifest, AppProtocolReady
from jupyter_applets.protocol.link import ViewState

from .conversation import SHEET, Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


def test_new_revision_takes_the_window_over_with_an_empty_log(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {"A1": "1"}})
    pending = talk.query("cells")
    talk.open_window(revision=2, html="<p>new")
    assert talk.error(pending).code == "VIEW_GONE"
    content = talk.sent["page"][-1]
    assert (content.window_id, content.revision, content.content.html) == ("sheet", 2, "<p>new")
    talk.ready(document=2)
    assert talk.commands_to("v1") == [("setCells", False)]


def test_older_revision_changes_nothing(talk: Conversation) -> None:
    talk.open_window(revision=5)
    assert talk.value(talk.open_window(revision=2, html="<p>old"))["revision"] == 5


def test_view_of_an_older_revision_is_given_the_newer_content(talk: Conversation) -> None:
    talk.open_window(revision=5, html="<p>five")
    talk.show("v2", revision=3)
    assert talk.sent["page"][-1].content.html == "<p>five"


def test_view_of_a_newer_revision_takes_the_window_over(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {}})
    talk.show("v2", revision=9)
    talk.ready("v2")
    assert talk.commands_to("v2") == []


def test_window_lives_on_without_its_kernel(talk: Conversation) -> None:
    talk.disconnect("kernel")
    talk.wait(3600)
    talk.kernel()
    call = talk.query("cells")
    talk.answer_last({})
    assert talk.value(call) == {}


def test_window_without_kernel_and_view_is_forgotten_after_ten_minutes(talk: Conversation) -> None:
    talk.disconnect("kernel")
    talk.disconnect("page")
    talk.wait(599)
    assert len(talk.host.windows) == 1
    talk.wait(2)
    assert len(talk.host.windows) == 0


def test_host_that_was_started_anew_learns_its_windows_from_the_pages() -> None:
    talk = Conversation()
    talk.page(views=[ViewState("v1", "sheet", 7, 3, True, True, SHEET, title="Sheet")])
    talk.kernel()
    call = talk.query("cells")
    talk.answer_last({"A1": "1"})
    assert talk.value(call) == {"A1": "1"}


def test_closed_window_ends_its_calls_and_is_gone(talk: Conversation) -> None:
    call = talk.query("cells")
    talk.call("close_window", {"windowId": "sheet"})
    assert talk.error(call).code == "VIEW_GONE"
    assert talk.error(talk.query("cells")).code == "WINDOW_NOT_FOUND"


def test_changed_title_or_permissions_keep_the_document_and_its_log(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {}})
    talk.open_window(revision=1, title="Other", permissions={"network": ["https://example.org"]})
    told = talk.sent["page"][-1]
    assert (told.revision, told.content.title) == (1, "Other")
    assert talk.value(talk.call("list_windows", {}))[0]["title"] == "Other"
    talk.ready(document=2)
    assert talk.commands_to("v1")[-1] == ("setCells", True)


def test_late_command_of_the_old_content_is_not_replayed_into_the_new(talk: Conversation) -> None:
    call = talk.command("setCells", {"cells": {"A1": "old"}})
    request = talk.asked()[-1]
    talk.open_window(revision=2, html="<p>new")
    assert talk.error(call).code == "VIEW_GONE"
    talk.answer(request, {"ok": True})
    talk.ready(document=2)
    assert talk.commands_to("v1") == [("setCells", False)]


def test_ready_of_a_document_that_is_being_replaced_counts_for_nothing(talk: Conversation) -> None:
    talk.open_window(revision=2, html="<p>new")
    call = talk.query("cells")
    talk.receive("page", AppProtocolReady("sheet", "v1", 1, SHEET, revision=1))
    assert not talk.asked()
    talk.receive("page", AppProtocolReady("sheet", "v1", 2, SHEET, revision=2))
    talk.answer_last({})
    assert talk.value(call) == {}


def test_ready_of_another_pages_view_is_ignored(talk: Conversation) -> None:
    talk.page("other")
    talk.ready("v1", page="other", document=9, manifest=AppManifest("forged", "Forged"))
    assert talk.value(talk.query("manifest"))["appId"] == "sheet"
