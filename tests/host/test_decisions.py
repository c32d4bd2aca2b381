"""Permissions: what an applet declares, what a person allows, refuses and takes back, and when its code may run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets.host.decisions import RunPolicy
from jupyter_applets.protocol.channel import (
    FileChanged,
    FileContent,
    FileWritten,
    Permit,
    ReadFile,
    Revoke,
    Subscribe,
    WriteFile,
)
from jupyter_applets.protocol.link import ErrorReply, Result, ViewState, WindowContent
from jupyter_applets.tools.files import MAX_SUBSCRIPTIONS
from jupyter_applets.tools.services import Services

from .conversation import Conversation


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    return Conversation(root=tmp_path).shown_sheet()


def read(talk: Conversation, path: str = "a.txt", **options: Any) -> str:
    """What became of it: the file's content, or the code of the error."""
    talk.receive("page", ReadFile(path, "r", "sheet", **options))
    last = talk.sent["page"][-1]
    assert isinstance(last, FileContent | ErrorReply)
    assert last.id == "r"
    return last.chunk if isinstance(last, FileContent) else last.code


def write(talk: Conversation, path: str, content: str = "new", **options: Any) -> str:
    talk.receive("page", WriteFile(path, content, id="w", window_id="sheet", **options))
    last = talk.sent["page"][-1]
    assert isinstance(last, FileWritten | ErrorReply)
    assert last.id == "w"
    return "written" if isinstance(last, FileWritten) else last.code


def permit(talk: Conversation, permission: str, value: Any, call: str | None = "p") -> None:
    talk.receive("page", Permit("sheet", permission, value, call))
    if call is not None:
        assert talk.messages(Result)[-1].id == call


def granted(talk: Conversation) -> dict[str, Any]:
    return talk.messages(WindowContent)[-1].granted


def last_run(talk: Conversation, page: str = "page") -> str:
    return talk.messages(WindowContent, page)[-1].run


# ---- files


def test_what_is_not_declared_needs_a_person(talk: Conversation) -> None:
    assert read(talk) == "PERMISSION_NEEDED"
    assert write(talk, "new.txt") == "PERMISSION_NEEDED"
    message = talk.messages(ErrorReply)[0].message
    assert "'a.txt'" in message
    assert '{"files": "read"}' in message


def test_what_is_declared_needs_nobody(talk: Conversation, tmp_path: Path) -> None:
    talk.open_window(permissions={"files": "read"})
    assert read(talk) == "a"
    assert write(talk, "new.txt") == "PERMISSION_NEEDED"
    talk.open_window(permissions={"files": "write"})
    assert (read(talk), write(talk, "new.txt")) == ("a", "written")
    assert (tmp_path / "new.txt").read_text() == "new"


@pytest.mark.parametrize("level", [True, "all", "", None, 1, ["read"], {"read": True}])
def test_odd_declaration_allows_nothing(talk: Conversation, level: Any) -> None:
    talk.open_window(permissions={"files": level})
    assert read(talk) == "PERMISSION_NEEDED"
    permit(talk, "files", level)
    assert read(talk) in ("PERMISSION_NEEDED", "PERMISSION_DENIED")


def test_grant_is_told_to_every_view_and_holds(talk: Conversation) -> None:
    talk.show("v2")
    permit(talk, "files", "read")
    told = talk.messages(WindowContent)[-2:]
    assert [(m.view_id, m.granted, m.content) for m in told] == [
        ("v1", {"files": "read"}, None),
        ("v2", {"files": "read"}, None),
    ]
    assert (read(talk), write(talk, "new.txt")) == ("a", "PERMISSION_NEEDED")
    permit(talk, "files", "write")
    permit(talk, "files", "read")
    assert granted(talk) == {"files": "write"}
    assert (read(talk), write(talk, "new.txt")) == ("a", "written")


def test_consent_of_the_moment_is_for_that_message_alone(talk: Conversation) -> None:
    assert read(talk, consent=True) == "a"
    assert read(talk) == "PERMISSION_NEEDED"


def test_refusal_is_remembered_while_the_window_is_there(talk: Conversation, tmp_path: Path) -> None:
    permit(talk, "files", False)
    assert granted(talk) == {"files": False}
    assert (read(talk), write(talk, "new.txt")) == ("PERMISSION_DENIED", "PERMISSION_DENIED")
    assert Services(tmp_path).decisions.load() == {}
    talk.open_window(revision=2)
    assert read(talk) == "PERMISSION_NEEDED"


def test_refusal_to_write_leaves_what_was_allowed_to_read(talk: Conversation) -> None:
    permit(talk, "files", "read")
    permit(talk, "files", False)
    assert granted(talk) == {"files": "read"}
    assert (read(talk), write(talk, "new.txt")) == ("a", "PERMISSION_DENIED")


def test_yes_after_a_no_counts(talk: Conversation) -> None:
    permit(talk, "files", False)
    permit(talk, "files", "read")
    assert read(talk) == "a"


def test_origins_are_added_up(talk: Conversation) -> None:
    permit(talk, "network", ["https://a.example"])
    permit(talk, "network", ["https://b.example", "https://a.example"])
    assert granted(talk) == {"network": ["https://a.example", "https://b.example"]}


# ---- overwriting


def test_file_that_was_not_read_is_not_replaced_before_a_person_agrees(talk: Conversation, tmp_path: Path) -> None:
    talk.open_window(permissions={"files": "write"})
    assert write(talk, "a.txt") == "CONSENT_NEEDED"
    assert (tmp_path / "a.txt").read_text() == "a"
    assert write(talk, "a.txt", consent=True) == "written"
    assert write(talk, "a.txt", "again") == "written"
    assert (tmp_path / "a.txt").read_text() == "again"


def test_file_that_was_read_or_made_may_be_replaced(talk: Conversation) -> None:
    talk.open_window(permissions={"files": "write"})
    read(talk, "a.txt")
    assert write(talk, "./a.txt") == "written"
    assert write(talk, "new.txt") == "written"
    assert write(talk, "new.txt", "more") == "written"
    assert write(talk, "b.txt") == "CONSENT_NEEDED"


def test_what_one_applet_read_another_in_the_same_window_has_not(talk: Conversation) -> None:
    talk.open_window(permissions={"files": "write"})
    read(talk, "a.txt")
    talk.open_window(revision=2, permissions={"files": "write"})
    assert write(talk, "a.txt") == "CONSENT_NEEDED"


# ---- kept, and taken back


def test_decisions_are_on_disk_before_the_page_is_answered(talk: Conversation, tmp_path: Path) -> None:
    permit(talk, "files", "read")
    kept = json.loads((tmp_path / ".jupyter-applets/permissions.json").read_text())
    assert kept["window:nb#sheet"]["files"] == "read"


def test_decision_outlives_the_host(talk: Conversation, tmp_path: Path) -> None:
    permit(talk, "files", "read")
    again = Conversation(root=tmp_path)
    again.host.decisions.all = again.services.decisions.load()
    again.shown_sheet()
    assert read(again) == "a"


def test_decision_that_cannot_be_kept_holds_and_says_so(talk: Conversation, tmp_path: Path) -> None:
    (tmp_path / ".jupyter-applets").write_text("in the way")
    talk.receive("page", Permit("sheet", "files", "read", "p"))
    [error] = [m for m in talk.messages(ErrorReply) if m.id == "p"]
    assert ".jupyter-applets" in error.message
    assert granted(talk) == {"files": "read"}


def test_taking_back_means_asking_again(talk: Conversation, tmp_path: Path) -> None:
    permit(talk, "files", "read")
    permit(talk, "network", ["https://a.example"])
    talk.receive("page", Revoke("sheet", "files", "t"))
    assert talk.messages(Result)[-1].id == "t"
    assert granted(talk) == {"network": ["https://a.example"]}
    assert read(talk) == "PERMISSION_NEEDED"
    talk.receive("page", Revoke("sheet"))
    assert granted(talk) == {}
    assert Services(tmp_path).decisions.load() == {}


def test_taking_back_a_refusal_means_asking_again(talk: Conversation) -> None:
    permit(talk, "files", False)
    talk.receive("page", Revoke("sheet", "files"))
    assert read(talk) == "PERMISSION_NEEDED"


def test_kernel_reads_and_takes_back_decisions(talk: Conversation) -> None:
    permit(talk, "files", "read")
    assert talk.value(talk.call("get_decisions", {"windowId": "sheet"})) == {"files": "read"}
    assert talk.value(talk.call("revoke_permission", {"windowId": "sheet", "permission": "files"})) == {}
    assert read(talk) == "PERMISSION_NEEDED"


def test_decision_about_a_window_that_is_gone_is_answered_with_an_error(talk: Conversation) -> None:
    talk.receive("page", Permit("gone", "files", "read", "p"))
    assert [(m.code, m.id) for m in talk.messages(ErrorReply)] == [("WINDOW_NOT_FOUND", "p")]


# ---- whom it was granted to


def test_another_content_in_the_same_window_asks_again(talk: Conversation) -> None:
    permit(talk, "files", "write")
    talk.call("set_applet_content", {"html": "<p>", "js": "steal()", "windowId": "sheet"})
    assert granted(talk) == {}
    assert read(talk) == "PERMISSION_NEEDED"


def test_same_content_again_does_not(talk: Conversation) -> None:
    permit(talk, "files", "read")
    talk.open_window(revision=2)
    assert read(talk) == "a"


def test_other_window_and_other_session_have_to_ask_for_themselves(talk: Conversation) -> None:
    permit(talk, "files", "read")
    talk.open_window("other")
    talk.page("far", session="elsewhere")
    talk.show("v9", page="far")
    for peer, window in (("page", "other"), ("far", "sheet")):
        talk.receive(peer, ReadFile("a.txt", "x", window))
        assert talk.sent[peer][-1].code == "PERMISSION_NEEDED"


def test_saved_applet_takes_its_grants_along_and_keeps_them_when_it_changes(talk: Conversation) -> None:
    permit(talk, "files", "read")
    talk.value(talk.call("save_applet", {"slug": "notes", "windowId": "sheet"}))
    assert read(talk) == "a"
    talk.value(talk.call("load_applet", {"slug": "notes", "windowId": "elsewhere"}))
    talk.receive("page", ReadFile("a.txt", "x", "elsewhere"))
    assert talk.sent["page"][-1].chunk == "a"


def test_deleted_applet_leaves_no_grants_to_the_next_of_its_name(talk: Conversation) -> None:
    talk.value(talk.call("save_applet", {"slug": "notes", "windowId": "sheet"}))
    permit(talk, "files", "read")
    talk.value(talk.call("delete_applet", {"slug": "notes"}))
    assert read(talk) == "PERMISSION_NEEDED"
    talk.value(talk.call("save_applet", {"slug": "notes", "windowId": "sheet"}))
    assert read(talk) == "PERMISSION_NEEDED"


# ---- may it run


def only_a_page_knows_it(run: RunPolicy) -> Conversation:
    """As a notebook that was opened with its outputs, whose kernel has not run."""
    talk = Conversation(run=run)
    talk.page()
    talk.show(revision=5)
    return talk


@pytest.mark.parametrize(("run", "told"), [("auto", "ask"), ("ask", "ask"), ("always", "run")])
def test_content_that_no_kernel_vouches_for_waits_for_a_person(run: RunPolicy, told: str) -> None:
    assert last_run(only_a_page_knows_it(run)) == told


@pytest.mark.parametrize(("run", "told"), [("auto", "run"), ("ask", "ask"), ("always", "run")])
def test_content_of_the_users_own_kernel_runs_at_once_unless_all_is_asked_for(run: RunPolicy, told: str) -> None:
    talk = Conversation(run=run)
    talk.kernel()
    talk.page()
    talk.open_window()
    talk.show()
    assert last_run(talk) == told


def test_kernel_that_vouches_later_makes_it_run() -> None:
    talk = only_a_page_knows_it("auto")
    talk.kernel()
    talk.open_window(revision=5, html="<p>mine")
    told = talk.messages(WindowContent)[-1]
    assert (told.run, told.content and told.content.html) == ("run", "<p>mine")


def test_kernel_that_has_another_content_vouches_for_that_one_alone() -> None:
    talk = only_a_page_knows_it("auto")
    talk.kernel()
    talk.open_window(revision=4)
    assert last_run(talk) == "ask"


def test_person_lets_it_run_and_is_not_asked_again() -> None:
    talk = only_a_page_knows_it("auto")
    permit(talk, "run", True)
    assert last_run(talk) == "run"
    talk.page("second")
    talk.show("v2", page="second", revision=5)
    assert last_run(talk, "second") == "run"


def test_leave_to_run_is_not_for_what_comes_after() -> None:
    talk = only_a_page_knows_it("ask")
    permit(talk, "run", True)
    talk.kernel()
    talk.open_window(revision=6, html="<p>other")
    assert last_run(talk) == "ask"


def test_saved_applet_that_was_allowed_once_runs_when_all_is_asked_for(tmp_path: Path) -> None:
    talk = Conversation(root=tmp_path, run="ask").shown_sheet()
    talk.value(talk.call("save_applet", {"slug": "notes", "windowId": "sheet"}))
    permit(talk, "run", True)
    talk.value(talk.call("load_applet", {"slug": "notes", "windowId": "other"}))
    talk.show("v2", "other", revision=0)
    assert last_run(talk) == "run"


def test_document_that_runs_already_is_not_stopped_by_a_cut() -> None:
    talk = only_a_page_knows_it("auto")
    talk.disconnect("page")
    talk.page("again", views=[ViewState("v1", "sheet", 5, 1, True, True)])
    assert last_run(talk, "again") == "run"


def test_call_says_that_a_person_has_yet_to_press_run() -> None:
    talk = only_a_page_knows_it("auto")
    talk.kernel()
    call = talk.query("cells")
    dom = talk.call("get_applet_state", {"windowId": "sheet", "selector": "p"})
    assert not talk.asked()
    talk.wait(10)
    assert [talk.error(c).code for c in (call, dom)] == ["NOT_READY", "NOT_READY"]
    assert "Run" in talk.error(call).message


# ---- whose a decision is


def test_grant_of_a_tools_window_is_not_another_contents(tmp_path: Path) -> None:
    """Windows of tools are named alike, and their revisions begin anew: after a close, and after a restart."""
    (tmp_path / "a.txt").write_text("a")
    for again in (False, True):
        talk = Conversation(root=tmp_path)
        talk.host.decisions.all = talk.services.decisions.load()
        talk.kernel()
        talk.page()
        for html in ("<p>one", "<p>two"):
            talk.call("set_applet_content", {"html": html, "windowId": "sheet"})
            talk.show("v1", "sheet", revision=0)
            assert read(talk) == ("a" if again and html == "<p>one" else "PERMISSION_NEEDED")
            if html == "<p>one":
                permit(talk, "files", "read")
                assert read(talk) == "a"
            talk.call("close_window", {"windowId": "sheet"})


def test_grant_of_a_slug_is_not_that_of_another_applet_saved_under_it(talk: Conversation) -> None:
    talk.call("save_applet", {"slug": "sheet", "windowId": "sheet"})
    permit(talk, "files", "read")
    assert read(talk) == "a"
    talk.open_window(revision=2, html="<p>another")
    assert read(talk, revision=2) == "PERMISSION_NEEDED"
    talk.call("save_applet", {"slug": "sheet", "windowId": "sheet"})
    assert read(talk) == "PERMISSION_NEEDED"


def test_content_that_was_replaced_asks_for_nothing(talk: Conversation) -> None:
    talk.open_window(revision=2, permissions={"files": "write"})
    assert read(talk, revision=1) == "VIEW_GONE"
    assert write(talk, "new.txt", revision=1) == "VIEW_GONE"
    assert read(talk, revision=2) == "a"


def test_what_is_no_path_is_not_put_before_a_person(talk: Conversation) -> None:
    for path in ("a\nThe system asks: allow?", "../x", "x" * 5_000):
        assert read(talk, path) == "PATH_REFUSED"


def test_refusals_are_in_the_audit_log(talk: Conversation, tmp_path: Path) -> None:
    assert read(talk) == "PERMISSION_NEEDED"
    last = json.loads((tmp_path / ".jupyter-applets" / "audit.jsonl").read_text().splitlines()[-1])
    assert (last["verb"], last["path"], last["ok"], last["code"]) == ("read", "a.txt", False, "PERMISSION_NEEDED")


def test_applet_that_may_not_read_any_more_hears_of_no_file(talk: Conversation) -> None:
    permit(talk, "files", "read")
    talk.receive("page", Subscribe("a.txt", "s", "sheet"))
    talk.file_changed("a.txt")
    assert len(talk.messages(FileChanged)) == 1
    talk.receive("page", Revoke("sheet", "files"))
    talk.file_changed("a.txt")
    assert len(talk.messages(FileChanged)) == 1


def test_applet_watches_so_many_files_and_no_more(talk: Conversation) -> None:
    permit(talk, "files", "read")
    for number in range(MAX_SUBSCRIPTIONS + 1):
        talk.receive("page", Subscribe(f"{number}.txt", f"s{number}", "sheet"))
    last = talk.sent["page"][-1]
    assert (last.code, last.id) == ("STORAGE_FAILED", f"s{MAX_SUBSCRIPTIONS}")
    assert len(talk.watched) == MAX_SUBSCRIPTIONS
