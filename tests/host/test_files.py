"""Files over the channel: the seed's messages as the seed has them, ours with an id, one answer to each."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_applets.errors import StorageFailed
from jupyter_applets.host.effects import Watch
from jupyter_applets.protocol.channel import (
    FileChanged,
    FileContent,
    FileList,
    FileWritten,
    ListFiles,
    ReadFile,
    Subscribe,
    Unsubscribe,
    WriteFile,
)
from jupyter_applets.protocol.link import CloseWindow, ErrorReply, Result, ViewClosed

from .conversation import Conversation


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """A page, a sheet that may read and write, and a client that knows the seed alone."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.csv").write_text("a,b\n")
    talk = Conversation(root=tmp_path).shown_sheet()
    talk.open_window(permissions={"files": "write"})
    talk._do(talk.host.connect("plain", "page", "nb", talk.now))
    talk.sent.clear()
    return talk


def said(talk: Conversation, message: Any, peer: str = "plain") -> list[dict[str, Any]]:
    """What the host says to that, as it stands on the wire."""
    before = len(talk.sent.get(peer, []))
    talk.receive(peer, message)
    return [msgspec.to_builtins(m) for m in talk.sent.get(peer, [])[before:]]


# ---- as the seed has them


def test_plain_client_reads_a_file(talk: Conversation) -> None:
    assert said(talk, ReadFile("data/a.csv")) == [
        {"type": "fileContent", "path": "data/a.csv", "chunk": "a,b\n", "done": True}
    ]


def test_plain_client_names_files_by_absolute_paths_too(talk: Conversation, tmp_path: Path) -> None:
    path = str(tmp_path / "data/a.csv")
    assert said(talk, ReadFile(path)) == [{"type": "fileContent", "path": path, "chunk": "a,b\n", "done": True}]


def test_plain_client_writes_a_file_without_being_asked_for_anything(talk: Conversation, tmp_path: Path) -> None:
    [written] = said(talk, WriteFile("data/a.csv", "new"))
    assert (written["type"], written["path"], sorted(written)) == (
        "fileWritten",
        "data/a.csv",
        ["path", "type", "version"],
    )
    assert (tmp_path / "data/a.csv").read_text() == "new"


def test_plain_client_subscribes_and_hears_of_changes(talk: Conversation) -> None:
    assert said(talk, Subscribe("data/a.csv")) == []
    assert talk.watched == ["data/a.csv"]
    talk.file_changed("data/a.csv", "modified")
    assert [msgspec.to_builtins(m) for m in talk.sent["plain"]] == [
        {"type": "fileChanged", "path": "data/a.csv", "event": "modified"}
    ]


@pytest.mark.parametrize(
    "message", [ReadFile("nope"), WriteFile("../up", "x"), ListFiles("nope"), Subscribe("../up"), ReadFile("data")]
)
def test_plain_client_is_told_what_went_wrong(talk: Conversation, message: Any) -> None:
    [error] = said(talk, message)
    assert sorted(error) == ["code", "message", "type"]
    assert error["type"] == "error"
    assert error["code"] in ("FILE_MISSING", "PATH_REFUSED")


# ---- ours


def test_answers_carry_the_id_and_the_window(talk: Conversation) -> None:
    [content] = said(talk, ReadFile("data/a.csv", "1", "sheet"), "page")
    assert (content["id"], content["windowId"], content["chunk"], content["done"]) == ("1", "sheet", "a,b\n", True)
    [written] = said(talk, WriteFile("data/a.csv", "x", id="2", window_id="sheet"), "page")
    assert (written["type"], written["id"], written["windowId"]) == ("fileWritten", "2", "sheet")
    [listed] = said(talk, ListFiles("data", "3", "sheet"), "page")
    assert (listed["type"], listed["id"], listed["windowId"]) == ("fileList", "3", "sheet")
    assert [(f["name"], f["type"], f["size"]) for f in listed["files"]] == [("a.csv", "file", 1)]
    assert said(talk, Subscribe("data", "4", "sheet"), "page") == [
        {"type": "result", "id": "4", "value": {"path": "data"}}
    ]
    assert said(talk, Unsubscribe("data", "5", "sheet"), "page") == [
        {"type": "result", "id": "5", "value": {"path": "data"}}
    ]


@pytest.mark.parametrize(
    "message",
    [
        ReadFile("nope", "1", "sheet"),
        ReadFile("a\0b", "1", "sheet"),
        ReadFile(".env", "1", "sheet"),
        ReadFile(".jupyter-applets/audit.jsonl", "1", "sheet"),
        ReadFile("data/a.csv", "1", "no such window"),
        WriteFile("data", "x", id="1", window_id="sheet"),
        WriteFile("", "x", id="1", window_id="sheet"),
        WriteFile("b.bin", "%%%", encoding="base64", id="1", window_id="sheet"),
        WriteFile("b.txt", "\ud800", id="1", window_id="sheet"),
        WriteFile("data/a.csv", "x", if_match="another", id="1", window_id="sheet", consent=True),
        ListFiles("data/a.csv", "1", "sheet"),
        ListFiles("nope", "1", "sheet"),
        Subscribe("../up", "1", "sheet"),
        Subscribe("a", "1", "no such window"),
    ],
    ids=lambda message: f"{type(message).__name__} {message.path!r}",
)
def test_every_question_that_cannot_be_answered_gets_one_error_with_its_id(talk: Conversation, message: Any) -> None:
    [error] = said(talk, message, "page")
    assert (error["type"], error["id"]) == ("error", "1")
    assert error["message"].endswith((".", "!"))
    assert talk.watched == []


def test_list_of_the_root_is_what_an_empty_path_means(talk: Conversation) -> None:
    [listed] = said(talk, ListFiles(id="1", window_id="sheet"), "page")
    assert [f["name"] for f in listed["files"]] == ["data"]


def test_empty_file_is_one_empty_piece(talk: Conversation, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert [(m["chunk"], m["done"]) for m in said(talk, ReadFile("empty"))] == [("", True)]


def test_large_file_comes_in_pieces_of_which_the_last_is_done(talk: Conversation, tmp_path: Path) -> None:
    text = "äöü€𝄞 " * 200_000
    (tmp_path / "large.txt").write_text(text)
    pieces = said(talk, ReadFile("large.txt", "1", "sheet"), "page")
    assert len(pieces) > 5
    assert "".join(piece["chunk"] for piece in pieces) == text
    assert [piece["done"] for piece in pieces] == [*[False] * (len(pieces) - 1), True]
    assert {piece["id"] for piece in pieces} == {"1"}
    assert len({piece["version"] for piece in pieces}) == 1


def test_bytes_that_are_no_text_come_as_base64_each_piece_whole_by_itself(talk: Conversation, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4000
    (tmp_path / "a.bin").write_bytes(data)
    pieces = said(talk, ReadFile("a.bin"))
    assert {piece["encoding"] for piece in pieces} == {"base64"}
    assert b"".join(base64.b64decode(piece["chunk"]) for piece in pieces) == data


def test_bytes_are_written_as_base64(talk: Conversation, tmp_path: Path) -> None:
    data = base64.b64encode(b"\xff\x00").decode()
    said(talk, WriteFile("a.bin", data, encoding="base64", id="1", window_id="sheet"), "page")
    assert (tmp_path / "a.bin").read_bytes() == b"\xff\x00"


def test_version_that_was_read_may_be_replaced_and_an_old_one_may_not(talk: Conversation, tmp_path: Path) -> None:
    [content] = said(talk, ReadFile("data/a.csv", "1", "sheet"), "page")
    write = WriteFile("data/a.csv", "mine", if_match=content["version"], id="2", window_id="sheet")
    assert said(talk, write, "page")[0]["type"] == "fileWritten"
    assert said(talk, write, "page")[0]["code"] == "VERSION_CONFLICT"


def test_applet_cannot_read_the_state_of_another_applet(talk: Conversation, tmp_path: Path) -> None:
    folder = tmp_path / "applets/other"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text("{}")
    [error] = said(talk, ReadFile("applets/other/state.json", "1", "sheet"), "page")
    assert error["code"] == "PATH_REFUSED"
    [error] = said(talk, Subscribe("applets/other/state.json", "2", "sheet"), "page")
    assert error["code"] == "PATH_REFUSED"


def test_every_access_is_in_the_audit_log(talk: Conversation, tmp_path: Path) -> None:
    for message in (ReadFile("data/a.csv", "1", "sheet"), ListFiles("data", "2", "sheet")):
        said(talk, message, "page")
    said(talk, Subscribe("data", "3", "sheet"), "page")
    said(talk, ReadFile(".env", "4", "sheet"), "page")
    talk.services.workspace.audit.close()
    [log] = (tmp_path / ".jupyter-applets").rglob("audit*.jsonl")
    lines = [msgspec.json.decode(line) for line in log.read_text().splitlines()]
    assert [line["verb"] for line in lines] == ["read", "list", "watch", "read"]


# ---- subscriptions


def test_one_watch_serves_all_subscribers_and_ends_with_the_last(talk: Conversation) -> None:
    said(talk, Subscribe("data/a.csv", "1", "sheet"), "page")
    said(talk, Subscribe("./data//a.csv"))
    said(talk, Subscribe("./data//a.csv"))
    assert talk.watched == ["data/a.csv"]
    talk.file_changed("data/a.csv", "deleted")
    assert talk.messages(FileChanged) == [FileChanged("data/a.csv", "deleted", "sheet")]
    assert talk.messages(FileChanged, "plain") == [FileChanged("./data//a.csv", "deleted")]
    said(talk, Unsubscribe("./data//a.csv"))
    assert talk.watched == ["data/a.csv"]
    said(talk, Unsubscribe("data/a.csv", "2", "sheet"), "page")
    assert talk.watched == []
    talk.file_changed("data/a.csv", "created")
    assert len(talk.messages(FileChanged)) == 1


@pytest.mark.parametrize(("given", "told"), [("data", "data/b"), ("data/", "data/b"), ("./data", "./data/b")])
def test_subscriber_of_a_folder_hears_of_what_is_directly_in_it(talk: Conversation, given: str, told: str) -> None:
    said(talk, Subscribe(given))
    for path in ("data/b", "data/deep/c", "other/b", "b"):
        talk.file_changed(path, "created")
    assert [m.path for m in talk.messages(FileChanged, "plain")] == [told]


@pytest.mark.parametrize("given", ["", "."])
def test_subscriber_of_the_root_hears_of_each_thing_once(talk: Conversation, given: str) -> None:
    said(talk, Subscribe(given))
    talk.file_changed("b", "created")
    talk.file_changed("", "modified")
    assert [m.path for m in talk.messages(FileChanged, "plain")] == ["b", given]


def test_file_need_not_be_there_to_be_watched(talk: Conversation) -> None:
    assert said(talk, Subscribe("not/yet", "1", "sheet"), "page")[0]["type"] == "result"
    talk.file_changed("not/yet", "created")
    assert talk.messages(FileChanged)[0].event == "created"


def test_unsubscribing_from_what_was_never_subscribed_to_is_fine(talk: Conversation) -> None:
    assert said(talk, Unsubscribe("data", "1", "sheet"), "page")[0]["type"] == "result"


def test_peer_that_goes_takes_its_subscriptions_with_it(talk: Conversation) -> None:
    said(talk, Subscribe("data/a.csv"))
    talk.disconnect("plain")
    assert talk.watched == []
    talk.file_changed("data/a.csv")


@pytest.mark.parametrize("gone", [ViewClosed("v1"), CloseWindow("sheet")])
def test_window_that_goes_takes_its_subscriptions_with_it(talk: Conversation, gone: Any) -> None:
    said(talk, Subscribe("data/a.csv", "1", "sheet"), "page")
    said(talk, Subscribe("data", "1"), "page")
    talk.receive("page", gone)
    assert talk.watched == ["data"]


def test_subscriptions_stay_while_another_view_of_the_page_shows_the_window(talk: Conversation) -> None:
    talk.show("v2")
    said(talk, Subscribe("data/a.csv", "1", "sheet"), "page")
    talk.receive("page", ViewClosed("v1"))
    assert talk.watched == ["data/a.csv"]


def test_subscriber_is_told_when_its_path_cannot_be_watched(talk: Conversation) -> None:
    said(talk, Subscribe("data/a.csv"))
    talk._do(talk.host.watched(Watch("data/a.csv"), StorageFailed("256 folders are watched already."), talk.now))
    assert talk.messages(ErrorReply, "plain")[-1].code == "STORAGE_FAILED"


def test_answer_to_a_peer_that_is_gone_harms_nobody(talk: Conversation) -> None:
    """The work is done when the peer has left: each of these is played in that order."""
    messages = (
        ReadFile("data/a.csv", "1", "sheet"),
        WriteFile("x", "x", id="2", window_id="sheet"),
        ListFiles("data", "3", "sheet"),
        Subscribe("data", "4", "sheet"),
        Unsubscribe("data", "5", "sheet"),
    )
    effects = [effect for message in messages for effect in talk.host.receive("page", message, talk.now)]
    talk.disconnect("page")
    talk._do(effects)
    assert talk.watched == []
    assert [w.id for w in talk.host.windows] == ["sheet"]


# ---- tools


def test_tools_read_write_and_list(talk: Conversation, tmp_path: Path) -> None:
    written = talk.value(talk.call("write_file", {"path": "notes.txt", "content": "hello"}))
    read = talk.value(talk.call("read_file", {"path": "notes.txt"}))
    assert read == {"path": "notes.txt", "content": "hello", "encoding": "utf-8", "version": written["version"]}
    listed = talk.value(talk.call("list_files", {}))
    assert [f["name"] for f in listed["files"]] == ["data", "notes.txt"]
    talk.value(talk.call("write_file", {"path": "a.bin", "content": "/wA=", "encoding": "base64"}))
    assert talk.value(talk.call("read_file", {"path": "a.bin"}))["encoding"] == "base64"
    stale = {"path": "notes.txt", "content": "x", "ifMatch": "another"}
    assert talk.error(talk.call("write_file", stale)).code == "VERSION_CONFLICT"


@pytest.mark.parametrize("path", ["../up", ".ssh/id_rsa", "/etc/passwd", "a\0", "nope"])
def test_tools_refuse_what_is_not_theirs(talk: Conversation, path: str) -> None:
    for name, more in (("read_file", {}), ("list_files", {}), ("write_file", {"content": "x"})):
        if (name, path) != ("write_file", "nope"):
            assert talk.error(talk.call(name, {"path": path, **more})).code in ("PATH_REFUSED", "FILE_MISSING")


def test_file_that_is_too_large_for_a_tool_says_so(talk: Conversation, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(9 * 1024 * 1024)
    assert talk.error(talk.call("read_file", {"path": "huge"})).code == "FILE_TOO_LARGE"


def test_kinds_of_answers_are_those_of_the_protocol(talk: Conversation) -> None:
    for message in (ReadFile("data/a.csv"), WriteFile("b", "x"), ListFiles("data"), Subscribe("data", "1")):
        talk.receive("plain", message)
    assert [type(m) for m in talk.sent["plain"]] == [FileContent, FileWritten, FileList, Result]
