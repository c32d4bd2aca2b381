"""Restoring: an applet that was reloaded, moved or shown again comes back as it was, and no command runs twice."""

from __future__ import annotations

import pytest

from jupyter_applets.host.replay import CommandLog
from jupyter_applets.protocol.app import (
    AppManifest,
    CommandAsk,
    CommandDescriptor,
    HydrateAsk,
    StateDescriptor,
)
from jupyter_applets.protocol.link import Snapshot, ViewClosed, ViewState

from .conversation import SHEET, Conversation

NOTES = AppManifest(
    "notes", "Notes", {"text": StateDescriptor("", snapshot=True)}, {"add": CommandDescriptor("Add a line")}
)


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


def add(talk: Conversation, *lines: str) -> None:
    for line in lines:
        talk.run("add", {"line": line})


def notes(hydrates: bool = True) -> Conversation:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.open_window()
    talk.show()
    talk.ready(manifest=NOTES, hydrates=hydrates)
    return talk


def test_reloaded_document_gets_the_commands_one_at_a_time_and_in_order(talk: Conversation) -> None:
    for value in "123":
        talk.run("setCells", {"cells": {"A1": value}})
    talk.ready(document=2)
    for value in "123":
        request = talk.asked()[-1]
        assert request.request_id.startswith("replay-")
        assert request.request == CommandAsk("setCells", {"cells": {"A1": value}}, replayed=True)
        talk.answer(request)
    assert len(talk.asked()) == 6


def test_new_requests_wait_until_the_replay_is_over(talk: Conversation) -> None:
    talk.run("sort")
    talk.ready(document=2)
    call = talk.query("cells")
    assert isinstance(talk.asked()[-1].request, CommandAsk)
    talk.answer_last()
    talk.answer_last({"A1": "1"})
    assert talk.value(call) == {"A1": "1"}


def test_failed_commands_are_not_recorded(talk: Conversation) -> None:
    talk.command("sort")
    talk.answer_last(error="no")
    talk.ready(document=2)
    assert talk.commands_to("v1") == [("sort", False)]


def test_command_that_says_never_is_not_replayed(talk: Conversation) -> None:
    talk.run("mail")
    talk.ready(document=2)
    assert talk.commands_to("v1") == [("mail", False)]


def test_command_that_says_last_is_replayed_once(talk: Conversation) -> None:
    for by in "abc":
        talk.run("sort", {"by": by})
    talk.ready(document=2)
    assert talk.asked()[-1].request == CommandAsk("sort", {"by": "c"}, replayed=True)
    talk.answer_last()
    assert len(talk.commands_to("v1")) == 4


def test_app_wide_policy_holds_where_a_command_says_nothing() -> None:
    manifest = AppManifest("x", "x", {}, {"a": CommandDescriptor(), "b": CommandDescriptor(replay="always")}, "never")
    talk = Conversation().shown_sheet()
    talk.ready(document=2, manifest=manifest)
    talk.run("a")
    talk.run("b")
    talk.ready(document=3, manifest=manifest)
    assert talk.commands_to("v1")[-1] == ("b", True)
    talk.answer_last()
    assert len(talk.commands_to("v1")) == 3


def test_policy_of_the_registration_that_came_up_decides(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {}})
    never = AppManifest("sheet", "Sheet", {}, {"setCells": CommandDescriptor(replay="never")})
    talk.ready(document=2, manifest=never)
    assert len(talk.commands_to("v1")) == 1


def test_second_register_in_one_document_replaces_without_replay_and_with_a_warning(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {}})
    other = AppManifest("other", "Other", {"rows": StateDescriptor()}, {})
    talk.ready(document=1, manifest=other)
    assert len(talk.commands_to("v1")) == 1
    assert talk.value(talk.query("manifest"))["appId"] == "other"
    assert any("register was called again" in line["args"][0] for line in talk.value(talk.query("__console")))


def test_replay_that_fails_is_noted_and_goes_on(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {}})
    talk.run("sort")
    talk.ready(document=2)
    talk.answer_last(error="boom")
    assert talk.commands_to("v1")[-1] == ("sort", True)
    assert any("boom" in line["args"][0] for line in talk.value(talk.query("__console")))


def test_replay_that_is_not_answered_does_not_block_for_ever(talk: Conversation) -> None:
    talk.run("sort")
    talk.ready(document=2)
    talk.wait(31)
    call = talk.query("cells")
    talk.answer_last({})
    assert talk.value(call) == {}


def test_command_runs_in_one_view_and_the_others_get_it_as_replay(talk: Conversation) -> None:
    talk.show("v2")
    talk.ready("v2")
    talk.page("tab2")
    talk.show("v3", page="tab2")
    talk.ready("v3", page="tab2")
    call = talk.command("setCells", {"cells": {"A1": "1"}})
    talk.answer_last({"ok": True})
    assert talk.value(call) == {"ok": True}
    assert talk.commands_to("v1") == [("setCells", False)]
    assert talk.commands_to("v2") == [("setCells", True)]
    assert talk.commands_to("v3", "tab2") == [("setCells", True)]


def test_moved_cell_brings_a_new_view_that_is_restored(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {"A1": "1"}})
    talk.receive("page", ViewClosed("v1"))
    talk.show("v2")
    talk.ready("v2")
    assert talk.commands_to("v2") == [("setCells", True)]


def test_reloaded_page_whose_applet_was_ready_before_its_socket_is_restored(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {"A1": "1"}})
    talk.disconnect("page")
    talk.page("page2", views=[ViewState("v9", "sheet", 1, 1, True, manifest=SHEET)])
    assert talk.commands_to("v9", "page2") == [("setCells", True)]


def test_page_that_reconnects_is_not_replayed_to(talk: Conversation) -> None:
    talk.run("setCells", {"cells": {"A1": "1"}})
    talk.disconnect("page")
    talk.page("again", views=[ViewState("v1", "sheet", 1, 1, True, True, SHEET)])
    assert talk.commands_to("v1", "again") == []
    call = talk.query("cells")
    talk.answer_last({}, page="again")
    assert talk.value(call) == {}


def test_page_that_reconnects_gets_only_what_it_missed(talk: Conversation) -> None:
    talk.page("tab2")
    talk.show("v2", page="tab2")
    talk.ready("v2", page="tab2")
    talk.run("setCells", {"cells": {"A1": "1"}})
    talk.answer_last(page="tab2")
    talk.disconnect("tab2")
    talk.run("setCells", {"cells": {"A1": "2"}})
    talk.page("tab2b", views=[ViewState("v2", "sheet", 1, 1, True, True, SHEET)])
    assert [r.request for r in talk.asked("tab2b")] == [CommandAsk("setCells", {"cells": {"A1": "2"}}, replayed=True)]


def test_command_answered_after_a_cut_is_recorded_and_not_replayed_to_its_own_document(talk: Conversation) -> None:
    call = talk.command("setCells", {"cells": {"A1": "1"}})
    request = talk.asked()[-1]
    talk.disconnect("page")
    assert talk.error(call).code == "VIEW_GONE"
    talk.page("again", views=[ViewState("v1", "sheet", 1, 1, True, True, SHEET)])
    talk.answer(request, {"ok": True}, page="again")
    assert talk.commands_to("v1", "again") == []
    talk.ready(document=2, page="again")
    assert talk.commands_to("v1", "again") == [("setCells", True)]


def test_hello_as_a_probe_changes_nothing(talk: Conversation) -> None:
    talk.run("sort")
    call = talk.query("cells")
    talk.page(views=[ViewState("v1", "sheet", 1, 1, True, True, SHEET)])
    talk.answer(talk.asked()[-1], {})
    assert talk.value(call) == {}
    assert talk.commands_to("v1") == [("sort", False)]


def test_snapshot_is_hydrated_and_only_later_commands_are_replayed() -> None:
    talk = notes()
    add(talk, "one", "two")
    talk.receive("page", Snapshot("sheet", "v1", {"text": "one two typed"}))
    add(talk, "three")
    talk.ready(document=2, manifest=NOTES, hydrates=True)
    assert talk.asked()[-1].request == HydrateAsk({"text": "one two typed"})
    talk.answer_last()
    assert talk.asked()[-1].request == CommandAsk("add", {"line": "three"}, replayed=True)
    talk.answer_last()
    assert len(talk.asked()) == 5


def test_snapshot_of_a_hydrated_document_covers_what_it_was_hydrated_with() -> None:
    talk = notes()
    add(talk, "one", "two")
    talk.receive("page", Snapshot("sheet", "v1", {"text": "one two"}))
    talk.ready(document=2, manifest=NOTES, hydrates=True)
    talk.answer_last()
    talk.receive("page", Snapshot("sheet", "v1", {"text": "one two and typed"}))
    talk.ready(document=3, manifest=NOTES, hydrates=True)
    assert talk.asked()[-1].request == HydrateAsk({"text": "one two and typed"})
    talk.answer_last()
    assert len(talk.asked()) == 4


def test_hydrate_that_fails_falls_back_to_replay() -> None:
    talk = notes()
    add(talk, "one")
    talk.receive("page", Snapshot("sheet", "v1", {"text": "one"}))
    talk.ready(document=2, manifest=NOTES, hydrates=True)
    talk.answer_last(error="bad snapshot")
    assert talk.commands_to("v1")[-1] == ("add", True)


def test_document_without_hydrate_gets_the_replay() -> None:
    talk = notes(hydrates=False)
    add(talk, "one")
    talk.receive("page", Snapshot("sheet", "v1", {"text": "one"}))
    talk.ready(document=2, manifest=NOTES)
    assert talk.commands_to("v1")[-1] == ("add", True)


def test_snapshot_counts_only_from_the_view_that_answers() -> None:
    talk = notes()
    talk.show("v2")
    talk.ready("v2", manifest=NOTES, hydrates=True)
    talk.receive("page", Snapshot("sheet", "v2", {"text": "other"}))
    talk.ready(document=2, manifest=NOTES, hydrates=True)
    assert not talk.asked()


def test_command_log_is_bounded_and_says_once_what_it_lost(talk: Conversation) -> None:
    for i in range(1_003):
        talk.run("setCells", {"cells": {"A1": str(i)}})
    window = next(iter(talk.host.windows))
    assert len(window.log.entries) == 1_000
    assert window.log.lost == 3
    assert sum("log is full" in line["args"][0] for line in talk.value(talk.query("__console"))) == 1


def test_command_log_is_bounded_in_bytes() -> None:
    log = CommandLog(max_bytes=1_000)
    for seq in range(10):
        log.record(seq, CommandAsk("a", {"x": "y" * 300}), None, ("v", 1))
    assert len(log.entries) == 3


def test_compaction_to_a_snapshot_loses_nothing() -> None:
    log = CommandLog(max_commands=3)
    for seq in range(1, 4):
        log.record(seq, CommandAsk("a"), None, ("v", 1))
    log.take_snapshot({"x": 1}, 3)
    log.record(4, CommandAsk("a"), None, ("v", 1))
    assert log.lost == 0
    assert log.steps(hydrates=True) == [HydrateAsk({"x": 1}), log.entries[-1]]


def test_call_made_while_the_applet_reloads_waits_for_the_new_document(talk: Conversation) -> None:
    talk.run("sort")
    talk.show(document=2, ready=False)
    call = talk.query("cells")
    assert not talk.replies(call)
    talk.ready(document=2)
    talk.answer_last()  # the replay
    talk.answer_last({"A1": "1"})
    assert talk.value(call) == {"A1": "1"}


def test_cut_in_the_middle_of_a_replay_loses_nothing(talk: Conversation) -> None:
    for value in "123":
        talk.run("setCells", {"cells": {"A1": value}})
    talk.ready(document=2)
    talk.answer_last()  # 1 is done, 2 is under way
    talk.disconnect("page")
    talk.page("again", views=[ViewState("v1", "sheet", 1, 2, ready=True, settled=True, manifest=SHEET)])
    assert [r.request.params["cells"]["A1"] for r in talk.asked("again")] == ["3"]
    call = talk.query("cells")
    assert len(talk.asked("again")) == 1, "a query must not overtake the replay"
    talk.answer_last(page="again")
    talk.answer_last({}, page="again")
    assert talk.value(call) == {}


def test_second_tab_that_was_cut_gets_the_mirrored_commands_it_still_lacks(talk: Conversation) -> None:
    talk.page("tab2")
    talk.show("v2", page="tab2")
    talk.ready("v2", page="tab2")
    for value in "123":
        talk.run("setCells", {"cells": {"A1": value}})
    talk.disconnect("tab2")  # 1 is under way there
    talk.page("tab2b", views=[ViewState("v2", "sheet", 1, 1, ready=True, settled=True, manifest=SHEET)])
    for _ in range(2):
        talk.answer_last(page="tab2b")
    assert [r.request.params["cells"]["A1"] for r in talk.asked("tab2b")] == ["2", "3"]


def test_what_was_typed_after_a_hydrate_and_a_cut_is_kept() -> None:
    talk = notes()
    add(talk, "one", "two")
    talk.receive("page", Snapshot("sheet", "v1", {"text": "one two"}))
    talk.ready(document=2, manifest=NOTES, hydrates=True)
    talk.answer_last()
    talk.disconnect("page")
    talk.page("again", views=[ViewState("v1", "sheet", 1, 2, ready=True, settled=True, manifest=NOTES, hydrates=True)])
    talk.receive("again", Snapshot("sheet", "v1", {"text": "one two typed"}))
    talk.ready(document=3, page="again", manifest=NOTES, hydrates=True)
    assert talk.asked("again")[-1].request == HydrateAsk({"text": "one two typed"})
    talk.answer_last(page="again")
    assert len(talk.asked("again")) == 1


def test_new_host_leaves_documents_that_lived_on_as_they_are_and_keeps_a_snapshot() -> None:
    talk = Conversation()
    talk.kernel()
    for tab, text in (("tab1", "in one"), ("tab2", "in two")):
        state = ViewState(f"v-{tab}", "sheet", 1, 3, True, True, NOTES, hydrates=True, snapshot={"text": text})
        talk.page(tab, views=[state])
    assert not talk.asked("tab1")
    assert not talk.asked("tab2")
    call = talk.command("add", {"line": "a"})
    talk.answer_last(page="tab1")
    assert talk.value(call) is None
    talk.ready("v-tab1", page="tab1", document=4, manifest=NOTES, hydrates=True)
    assert talk.asked("tab1")[-1].request == HydrateAsk({"text": "in one"})
    talk.answer_last(page="tab1")
    assert talk.asked("tab1")[-1].request == CommandAsk("add", {"line": "a"}, replayed=True)


def test_views_that_were_cut_off_are_remembered_up_to_a_bound(talk: Conversation) -> None:
    for i in range(300):
        talk.page(f"p{i}", views=[ViewState(f"w{i}", "sheet", 1, 1, True, manifest=SHEET)])
        talk.disconnect(f"p{i}")
    assert len(next(iter(talk.host.windows)).away) == 100


def test_command_that_waits_is_not_given_to_a_view_of_the_page_that_goes(talk: Conversation) -> None:
    talk.page("other")
    talk.show("v2", page="other")
    talk.ready("v2", page="other")
    talk.show("v3")
    talk.ready("v3")
    call = talk.query("cells")
    talk.disconnect("page")
    talk.answer_last({"A1": "1"}, page="other")
    assert talk.value(call) == {"A1": "1"}
