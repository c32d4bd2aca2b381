"""Saved applets: kept as files, loaded, listed, deleted; and reloaded when an editor changes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets.protocol.channel import MAX_STATE_BYTES, SetState
from jupyter_applets.protocol.link import Call, ConsoleLines, WindowContent

from .conversation import Conversation

CONTENT = {"html": "<p>notes</p>\n", "js": "go()\n", "css": "p { color: red }\n", "title": "Notes"}


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    talk = Conversation(root=tmp_path)
    talk.kernel()
    talk.page()
    talk.open_window("notes", **CONTENT, permissions={"files": "read"})
    talk.show("v1", "notes")
    talk.ready("v1", "notes")
    return talk


def save(talk: Conversation, slug: str = "notes", **more: Any) -> Any:
    return talk.value(talk.call("save_applet", {"slug": slug, "windowId": "notes", **more}))


def load(talk: Conversation, slug: str = "notes", **more: Any) -> Any:
    return talk.value(talk.call("load_applet", {"slug": slug, **more}))


def state(talk: Conversation, window: str = "notes") -> Any:
    return talk.value(talk.call("get_applet_state", {"windowId": window}))


def shown(talk: Conversation) -> WindowContent:
    return talk.messages(WindowContent)[-1]


# ---- save, load, list, delete


def test_applet_is_saved_as_files_and_the_paths_are_told(talk: Conversation, tmp_path: Path) -> None:
    talk.receive("page", SetState({"n": 1}, "notes", "v1"))
    saved = save(talk, description="What I think")
    folder = tmp_path / "applets/notes"
    assert (saved["slug"], saved["name"], saved["paths"]["folder"]) == ("notes", "Notes", str(folder))
    assert (folder / "content.html").read_text() == CONTENT["html"]
    assert (folder / "script.js").read_text() == CONTENT["js"]
    assert (folder / "style.css").read_text() == CONTENT["css"]
    assert json.loads((folder / "state.json").read_text()) == {"n": 1}
    assert json.loads((folder / "app.json").read_text())["permissions"] == {"files": "read"}
    assert json.loads((folder / "meta.json").read_text())["description"] == "What I think"


def test_saving_twice_changes_no_byte(talk: Conversation, tmp_path: Path) -> None:
    folder = tmp_path / "applets/notes"
    first = save(talk)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert save(talk) == first
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


def test_window_that_was_saved_is_the_saved_applet_and_its_document_goes_on(talk: Conversation) -> None:
    save(talk)
    assert state(talk)["activeSlug"] == "notes"
    told = shown(talk)
    assert (told.revision, told.content and told.content.slug) == (1, "notes")
    call = talk.query("cells", "notes")
    talk.answer_last({})
    assert talk.value(call) == {}


def test_commands_and_snapshot_are_saved_and_bring_the_applet_back(talk: Conversation) -> None:
    call = talk.command("setCells", {"cells": {"A1": "1"}}, "notes")
    talk.answer_last()
    talk.value(call)
    save(talk)
    load(talk, windowId="copy")
    talk.show("v2", "copy", revision=0)
    talk.ready("v2", "copy", document=2)
    assert talk.commands_to("v2") == [("setCells", True)]
    assert "__commands" not in state(talk, "copy")["state"]


def test_content_that_changed_while_it_was_saved_is_not_overwritten(talk: Conversation) -> None:
    call = Call("save", "save_applet", {"slug": "notes", "windowId": "notes"})
    effects = talk.host.receive("kernel", call, talk.now)
    talk.open_window("notes", 2, html="<p>newer")
    talk._do(effects)
    assert state(talk)["activeSlug"] is None
    assert shown(talk).content is not None
    assert talk.value("save") is not None


def test_loaded_applet_shows_with_its_state_and_gives_no_content_back(talk: Conversation) -> None:
    talk.receive("page", SetState({"n": 1}, "notes", "v1"))
    save(talk)
    loaded = load(talk, windowId="fresh")
    assert sorted(loaded) == ["note", "shown", "slug", "windowId"]
    assert state(talk, "fresh") == {
        "state": {"n": 1},
        "windowId": "fresh",
        "activeSlug": "notes",
        "appletTitle": "Notes",
        "hasApplet": True,
    }


def test_applet_is_loaded_into_the_window_that_shows_it_and_else_into_a_new_one_of_its_name(
    talk: Conversation,
) -> None:
    save(talk)
    talk.call("set_applet_content", {"html": "<p>precious"})
    assert load(talk)["windowId"] == "notes"
    assert load(talk)["windowId"] == "notes"
    talk.call("close_window", {"windowId": "notes"})
    talk.open_window("notes", html="<p>something else")
    assert load(talk)["windowId"] == "notes-2"
    talk.call("close_window", {"windowId": "notes-2"})
    assert load(talk, windowId="other")["windowId"] == "other"
    assert load(talk)["windowId"] == "other"
    assert {w["windowId"] for w in talk.value(talk.call("list_windows", {}))} >= {"applet-1", "notes", "other"}


def test_same_applet_loaded_again_keeps_its_state_and_another_does_not(talk: Conversation) -> None:
    save(talk)
    save(talk, "copy")
    load(talk, windowId="w")
    talk.call("set_applet_state", {"windowId": "w", "data": {"n": 2}})
    load(talk, windowId="w")
    assert state(talk, "w")["state"] == {"n": 2}
    load(talk, "copy", windowId="w")
    assert state(talk, "w")["state"] == {}


def test_caller_is_told_when_no_page_can_show_it(talk: Conversation) -> None:
    save(talk)
    assert load(talk, windowId="notes") == {"windowId": "notes", "shown": True, "slug": "notes"}
    hidden = load(talk, windowId="fresh")
    assert hidden["shown"] is False
    assert "Desk()" in hidden["note"]


def test_list_has_the_full_paths_and_what_is_broken_with_the_reason(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    (tmp_path / "applets/half").mkdir()
    (tmp_path / "applets/half/meta.json").write_text("{")
    found = {entry["slug"]: entry for entry in talk.value(talk.call("list_applets", {}))}
    assert found["notes"]["paths"]["js"] == str(tmp_path / "applets/notes/script.js")
    assert "broken" in found["half"]
    assert found["calculator"]["shipped"] is True


def test_shipped_applet_is_loaded_and_cannot_be_deleted(talk: Conversation) -> None:
    assert load(talk, "calculator", windowId="c")["slug"] == "calculator"
    assert talk.error(talk.call("delete_applet", {"slug": "calculator"})).code == "STORE_ERROR"


def test_deleted_applet_is_moved_away_and_its_window_goes_on(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    moved = talk.value(talk.call("delete_applet", {"slug": "notes"}))
    assert (tmp_path / moved["movedTo"]).is_dir()
    assert not (tmp_path / "applets/notes").exists()
    assert state(talk)["activeSlug"] is None
    assert state(talk)["hasApplet"] is True
    save(talk)
    assert state(talk)["activeSlug"] == "notes"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("load_applet", {"slug": "nope"}, "APPLET_NOT_FOUND"),
        ("load_applet", {"slug": "../up"}, "INVALID_SLUG"),
        ("delete_applet", {"slug": "nope"}, "APPLET_NOT_FOUND"),
        ("save_applet", {"slug": "Not A Slug", "windowId": "notes"}, "INVALID_SLUG"),
        ("save_applet", {"slug": "x", "windowId": "nope"}, "WINDOW_NOT_FOUND"),
        ("read_applet", {"slug": "nope"}, "APPLET_NOT_FOUND"),
    ],
)
def test_what_cannot_be_done_gets_one_error(talk: Conversation, tool: str, arguments: Any, code: str) -> None:
    assert talk.error(talk.call(tool, arguments)).code == code


def test_content_that_only_a_page_knows_cannot_be_saved(talk: Conversation) -> None:
    talk.show("v9", "paged", revision=4)
    assert talk.error(talk.call("save_applet", {"slug": "x", "windowId": "paged"})).code == "NOT_SHOWN"


def test_applet_whose_state_is_too_large_is_not_loaded_and_the_call_is_answered(
    talk: Conversation, tmp_path: Path
) -> None:
    save(talk)
    (tmp_path / "applets/notes/state.json").write_text(json.dumps({"a": "x" * (MAX_STATE_BYTES + 1)}))
    assert talk.error(talk.call("load_applet", {"slug": "notes", "windowId": "fresh"})).code in (
        "TOO_LARGE",
        "BROKEN_APPLET",
    )
    assert [w.id for w in talk.host.windows] == ["notes"]


@pytest.mark.parametrize("tool", ["load_applet", "delete_applet", "read_applet", "save_applet"])
def test_caller_that_goes_before_the_disk_is_done_harms_nobody(talk: Conversation, tool: str) -> None:
    save(talk)
    effects = talk.host.receive("kernel", Call("late", tool, {"slug": "notes"}), talk.now)
    talk.disconnect("kernel")
    talk._do(effects)
    talk.kernel("second")
    call = talk.call("list_windows", {}, kernel="second")
    assert talk.replies(call, "second")


# ---- an editor changes the files


def edit(talk: Conversation, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "applets/notes" / name).write_text(text)
    talk.file_changed(f"applets/notes/{name}")


def test_files_are_watched_from_the_first_saved_applet_on(talk: Conversation) -> None:
    assert talk.watched == []
    save(talk)
    load(talk)
    assert talk.watched == ["/**"]


def test_edited_script_reloads_the_window_with_its_state_and_its_log(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    talk.receive("page", SetState({"n": 1}, "notes", "v1"))
    call = talk.command("setCells", {"cells": {"A1": "1"}}, "notes")
    talk.answer_last()
    talk.value(call)
    edit(talk, tmp_path, "script.js", "other()\n")
    told = shown(talk)
    assert (told.revision, told.content and told.content.js, told.state) == (2, "other()\n", {"n": 1})
    talk.ready("v1", "notes", document=2)
    assert talk.commands_to("v1")[-1] == ("setCells", True)


def test_kernels_hear_of_the_new_content(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    edit(talk, tmp_path, "style.css", "p {}\n")
    told = talk.messages(WindowContent, "kernel")[-1]
    assert (told.revision, told.content and told.content.css, told.run) == (2, "p {}\n", "run")


def test_nothing_is_reloaded_when_nothing_changed(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    before = len(talk.sent["page"])
    for name in ("script.js", "state.json", "meta.json"):
        talk.file_changed(f"applets/notes/{name}")
    talk.file_changed("elsewhere/notes/script.js")
    (tmp_path / "applets/notes/state.json").write_text('{"n": 5}')
    talk.file_changed("applets/notes/state.json")
    assert len(talk.sent["page"]) == before


def test_every_window_of_the_applet_is_reloaded_and_no_other(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    save(talk, "other")
    load(talk, windowId="one")
    load(talk, windowId="two")
    edit(talk, tmp_path, "content.html", "<p>edited\n")
    found = {w.id: w.content.html for w in talk.host.windows if w.content}
    assert found == {"notes": CONTENT["html"], "one": "<p>edited\n", "two": "<p>edited\n"}


def test_broken_file_is_noted_once_in_the_console_and_the_applet_goes_on(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    for _ in range(3):
        edit(talk, tmp_path, "app.json", "{")
    [line] = talk.value(talk.call("get_applet_logs", {"windowId": "notes"}))
    assert "not loaded" in line["args"][0]
    assert "app.json" in line["args"][0]
    assert len(talk.messages(ConsoleLines, "kernel")) == 1
    assert state(talk)["hasApplet"] is True


def test_repaired_file_is_loaded(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    whole = (tmp_path / "applets/notes/app.json").read_text()
    edit(talk, tmp_path, "app.json", "{")
    edit(talk, tmp_path, "script.js", "other()\n")
    edit(talk, tmp_path, "app.json", whole)
    content = shown(talk).content
    assert content is not None
    assert content.js == "other()\n"


def test_module_of_the_folder_is_part_of_the_applet(talk: Conversation, tmp_path: Path) -> None:
    save(talk)
    edit(talk, tmp_path, "util.js", "export const a = 1\n")
    content = shown(talk).content
    assert content is not None
    assert content.files["util.js"].text == "export const a = 1\n"
