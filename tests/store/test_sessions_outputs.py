"""What agents displayed: kept as files of a session, and given back by name alone."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from jupyter_applets.errors import AppletError, FileMissing, FileTooLarge, PathRefused, StorageFailed
from jupyter_applets.store import outputs
from jupyter_applets.store.sessions import SessionStore
from jupyter_applets.workspace.files import Workspace


@pytest.fixture
def sessions(workspace: Workspace) -> SessionStore:
    return SessionStore(workspace)


@pytest.fixture
def folder(root: Path) -> Path:
    return root / ".jupyter-applets" / "sessions" / "nb"


def test_output_is_a_file_and_a_line_of_the_index(sessions: SessionStore, folder: Path) -> None:
    output = sessions.put_output("nb", "s1", "image/png", b"\x89PNG", "A plot")
    assert (output.mime, output.title) == ("image/png", "A plot")
    assert output.name.startswith("1-")
    assert output.name.endswith(".png")
    assert sessions.get_output("nb", output.name) == ("image/png", b"\x89PNG")
    [entry] = json.loads((folder / "outputs.json").read_bytes())["outputs"]
    assert entry.keys() == {"name", "mime", "title", "streamId", "timestamp", "size"}
    assert (entry["streamId"], entry["size"]) == ("s1", 4)


@pytest.mark.parametrize(
    "name",
    ["", "..", "../session.json", "/etc/passwd", "1-00000000.png", "outputs.json", "a/b", "1-0000000\n.png", "\0"],
)
def test_name_of_nothing_is_missing(sessions: SessionStore, name: str) -> None:
    sessions.put_output("nb", "s1", "image/png", b"x")
    for session in ("nb", "nope"):
        with pytest.raises(FileMissing):
            sessions.get_output(session, name)


def test_index_cannot_name_what_is_elsewhere(sessions: SessionStore, folder: Path, root: Path) -> None:
    output = sessions.put_output("nb", "s1", "image/png", b"x")
    (root / "secret").write_text("secret")
    entries = [{"name": "../../../../secret", "mime": "text/plain", "streamId": "s1"}]
    (folder / "outputs.json").write_text(json.dumps({"outputs": entries}))
    with pytest.raises(FileMissing):
        sessions.get_output("nb", "../../../../secret")
    entries = [{"name": output.name, "mime": "text/plain", "streamId": "s1"}]
    (folder / "outputs.json").write_text(json.dumps({"outputs": entries}))
    (folder / "outputs" / output.name).unlink()
    (folder / "outputs" / output.name).symlink_to("../../../../secret")
    with pytest.raises(PathRefused):
        sessions.get_output("nb", output.name)


def test_chat_gets_text_as_text_and_the_rest_in_base64(sessions: SessionStore) -> None:
    page = sessions.put_output("nb", "s1", "text/html", "<p>ä".encode())
    image = sessions.put_output("nb", "s1", "image/gif", b"GIF")
    assert sessions.output_as_json("nb", page.name) == {"name": page.name, "mime": "text/html", "data": "<p>ä"}
    assert sessions.output_as_json("nb", image.name)["data"] == "R0lG"


def test_output_that_is_too_large_is_refused(sessions: SessionStore, folder: Path) -> None:
    with pytest.raises(FileTooLarge):
        sessions.put_output("nb", "s1", "image/png", b"x" * (16 * 1024 * 1024 + 1))
    assert not folder.exists()


def test_full_session_keeps_its_oldest_outputs(sessions: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "MAX_OUTPUTS", 3)
    names = [sessions.put_output("nb", "s1", "image/png", b"x").name for _ in range(3)]
    with pytest.raises(StorageFailed, match="3 outputs"):
        sessions.put_output("nb", "s1", "image/png", b"x")
    assert all(sessions.get_output("nb", name) for name in names)


@pytest.mark.parametrize("mime", ["", "image", "image/png\r\nX-Evil: 1", "a b/c", "ä/b", "x/" + "y" * 300])
def test_what_is_no_mime_type_is_refused(sessions: SessionStore, mime: str) -> None:
    with pytest.raises(AppletError, match="MIME"):
        sessions.put_output("nb", "s1", mime, b"x")


def test_unknown_kind_is_kept_as_bytes(sessions: SessionStore) -> None:
    output = sessions.put_output("nb", "s1", "application/vnd.vega.v5+json; charset=utf-8", b"{}")
    assert output.name.endswith(".bin")
    assert sessions.get_output("nb", output.name) == (output.mime, b"{}")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"outputs": {}}', '{"outputs": 1, "mine": true}'])
def test_broken_index_is_set_aside_and_not_lost(sessions: SessionStore, folder: Path, text: str) -> None:
    sessions.create("nb")
    (folder / "outputs.json").write_text(text)
    assert sessions.history("nb") == []
    output = sessions.put_output("nb", "s1", "image/png", b"x")
    assert sessions.get_output("nb", output.name)[1] == b"x"
    [aside] = folder.glob("outputs.json.broken-*")
    assert aside.read_text() == text


def test_strange_entries_are_passed_over_and_kept(sessions: SessionStore, folder: Path) -> None:
    first = sessions.put_output("nb", "s1", "image/png", b"x")
    index = json.loads((folder / "outputs.json").read_bytes())
    strange = [1, {"name": "x"}, {**index["outputs"][0], "mime": "a\nb"}]
    index["outputs"] = [*strange, {**index["outputs"][0], "mine": 1}]
    (folder / "outputs.json").write_text(json.dumps({**index, "version": 2}))
    second = sessions.put_output("nb", "s1", "image/png", b"y")
    kept = json.loads((folder / "outputs.json").read_bytes())
    assert kept["version"] == 2
    assert kept["outputs"][:4] == index["outputs"]
    assert [sessions.get_output("nb", output.name)[1] for output in (first, second)] == [b"x", b"y"]


def test_stores_that_write_at_once_lose_no_output(root: Path) -> None:
    def write() -> None:
        store = SessionStore(Workspace(root))
        for _ in range(10):
            store.put_output("nb", "s1", "image/png", b"x")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index = json.loads((root / ".jupyter-applets" / "sessions" / "nb" / "outputs.json").read_bytes())
    assert sorted(int(entry["name"].partition("-")[0]) for entry in index["outputs"]) == list(range(1, 41))
