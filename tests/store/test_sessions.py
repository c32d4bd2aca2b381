"""Sessions on the disk: their folders, which there are, and those that go."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_applets.errors import FileMissing, PathRefused, StoreError
from jupyter_applets.store.session_names import quote, unquote
from jupyter_applets.store.sessions import SessionStore, meta_of
from jupyter_applets.workspace.files import Workspace

LINE = {"type": "user.message", "data": {"content": "hi"}, "timestamp": "2026-01-27T20:00:00.000Z", "streamId": "s1"}


@pytest.fixture
def sessions(workspace: Workspace) -> SessionStore:
    return SessionStore(workspace)


@pytest.fixture
def folder(root: Path) -> Path:
    return root / ".jupyter-applets" / "sessions"


# ---- names


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("a/b c.ipynb", "a%2Fb%20c.ipynb"),
        ("s-0123", "s-0123"),
        (".hidden", "%2Ehidden"),
        ("..", "%2E."),
        ("ü", "%C3%BC"),
        ("100%~", "100%25%7E"),
    ],
)
def test_id_is_a_readable_name_of_a_folder(session: str, name: str) -> None:
    assert quote(session) == name
    assert unquote(name) == session


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_name_is_safe_and_leads_back(session: str) -> None:
    name = quote(session)
    assert len(name.encode()) <= 180
    assert not name.startswith(".")
    assert set("/\\\0\n ").isdisjoint(name)
    assert "~" in name or unquote(name) == session


@given(st.lists(st.text(max_size=80), min_size=2, max_size=2, unique=True))
def test_two_ids_have_two_names(ids: list[str]) -> None:
    one, two = (session * 5 for session in ids)
    assert one == two or quote(one) != quote(two)


@pytest.mark.parametrize("session", ["half a pair \ud83d"])
def test_id_that_no_name_can_stand_for_is_refused(sessions: SessionStore, session: str) -> None:
    with pytest.raises(StoreError):
        sessions.append(session, [LINE])
    with pytest.raises(StoreError):
        sessions.history(session)


def test_long_id_is_kept_beside_its_journal(sessions: SessionStore) -> None:
    long = "deep/" * 60 + "ü.ipynb"
    sessions.append(long, [LINE])
    sessions.append(long.replace("ü", "u"), [LINE])
    assert {info.id for info in sessions.all()} == {long, long.replace("ü", "u")}
    assert sessions.exists(long)


# ---- which there are


def test_nothing_is_made_by_looking(sessions: SessionStore, root: Path) -> None:
    assert sessions.all() == []
    assert not sessions.exists("nb")
    assert sessions.info("nb") is None
    assert list(root.iterdir()) == []


def test_session_json_says_what_it_was_made_from_and_no_more(sessions: SessionStore, folder: Path) -> None:
    sessions.create("nb")
    sessions.create("s-1", parent="nb", ephemeral=True)
    assert json.loads((folder / "nb" / "session.json").read_text()).keys() == {"id", "created"}
    made = json.loads((folder / "s-1" / "session.json").read_text())
    assert (made["id"], made["parent"], made["ephemeral"]) == ("s-1", "nb", True)
    info = sessions.info("s-1")
    assert info is not None
    assert (info.parent, info.ephemeral, info.made, info.created) == ("nb", True, True, made["created"])


def test_session_that_is_there_stays_as_it_was_made(sessions: SessionStore) -> None:
    sessions.create("s-1", parent="nb", ephemeral=True)
    before = sessions.info("s-1")
    sessions.create("s-1")
    sessions.append("s-1", [])
    assert sessions.info("s-1") == before


def test_folders_and_files_are_for_their_owner_alone(sessions: SessionStore, folder: Path) -> None:
    sessions.append("nb", [LINE])
    sessions.put_output("nb", "s1", "image/png", b"x")
    sessions.write_meta("nb", [])
    found = [folder, *folder.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_dir()} == {0o700}
    assert len(found) == 8


def test_the_last_used_session_is_listed_last(sessions: SessionStore, folder: Path) -> None:
    for number, session in enumerate(("b", "c", "a")):
        sessions.append(session, [LINE])
        os.utime(folder / session / "events.jsonl", (number, number))
    assert [(info.id, info.updated) for info in sessions.all()] == [
        ("b", "1970-01-01T00:00:00.000Z"),
        ("c", "1970-01-01T00:00:01.000Z"),
        ("a", "1970-01-01T00:00:02.000Z"),
    ]


def test_what_is_no_session_is_not_listed_and_spoils_nothing(
    sessions: SessionStore, folder: Path, tmp_path: Path
) -> None:
    sessions.append("nb", [LINE])
    (folder / "file").write_text("x")
    (folder / "out").symlink_to(tmp_path)
    (folder / "in").symlink_to("nb")
    (folder / ".0123456789abcdef.tmp").mkdir()
    (folder / "empty").mkdir()
    (folder / "lost~0123").mkdir()
    (folder / "lost~0123" / "events.jsonl").write_text("")
    assert [info.id for info in sessions.all()] == ["nb"]


def test_broken_or_foreign_session_json_costs_nothing_but_what_it_said(sessions: SessionStore, folder: Path) -> None:
    sessions.append("a b", [LINE])
    (folder / "a%20b" / "session.json").write_text("{")
    (folder / "copied").mkdir()
    (folder / "copied" / "session.json").write_text('{"id": "a b", "created": "x"}')
    (folder / "foreign").mkdir()
    (folder / "foreign" / "events.jsonl").write_text('{"type":"user.message","data":{"content":"x"}}\n')
    assert {info.id for info in sessions.all()} == {"a b", "copied", "foreign"}
    assert all(sessions.exists(session) for session in ("a b", "copied", "foreign"))


def test_links_are_not_followed(sessions: SessionStore, folder: Path, root: Path) -> None:
    sessions.append("other", [LINE])
    (root / "elsewhere").mkdir()
    (folder / "nb").symlink_to("../../elsewhere")
    for use in (
        lambda: sessions.append("nb", [LINE]),
        lambda: sessions.history("nb"),
        lambda: sessions.put_output("nb", "s", "image/png", b"x"),
        lambda: sessions.write_meta("nb", []),
    ):
        with pytest.raises(PathRefused):
            use()
    assert list((root / "elsewhere").iterdir()) == []
    folder.rename(root / "moved")
    folder.symlink_to("../moved")
    with pytest.raises(PathRefused):
        sessions.append("other", [LINE])


# ---- those that go


def test_ephemeral_session_is_deleted_whole_and_a_persons_is_not(sessions: SessionStore, folder: Path) -> None:
    sessions.create("s-1", ephemeral=True)
    sessions.put_output("s-1", "s1", "image/png", b"x")
    sessions.delete("s-1")
    assert list(folder.iterdir()) == []
    sessions.append("nb", [LINE])
    with pytest.raises(StoreError, match="notebook"):
        sessions.delete("nb")
    assert len(sessions.history("nb")) == 2
    with pytest.raises(FileMissing):
        sessions.delete("nope")


def test_oldest_ephemeral_sessions_go_and_no_others(sessions: SessionStore, folder: Path) -> None:
    sessions.append("nb", [LINE])
    os.utime(folder / "nb" / "events.jsonl", (0, 0))
    for number in range(5):
        sessions.create(f"s-{number}", ephemeral=True)
        sessions.append(f"s-{number}", [LINE])
        os.utime(folder / f"s-{number}" / "events.jsonl", (100 - number, 100 - number))
    assert sessions.prune(2) == ["s-4", "s-3", "s-2"]
    assert {path.name for path in folder.iterdir()} == {"nb", "s-0", "s-1"}
    assert sessions.prune(2) == []


def test_removal_that_was_cut_off_is_finished_later(sessions: SessionStore, folder: Path) -> None:
    sessions.create("s-1", ephemeral=True)
    left = folder / ".0123456789abcdef.tmp"
    (left / "outputs").mkdir(parents=True)
    (left / "outputs" / "x").write_text("x")
    sessions.prune()
    assert [path.name for path in folder.iterdir()] == ["s-1"]


# ---- the supplement


def test_supplement_has_the_seeds_shape_and_can_be_made_anew(sessions: SessionStore, folder: Path) -> None:
    content = "[applet:calculator] " + "x" * 3_000
    sessions.append("nb", [{**LINE, "data": {"content": content}}, {**LINE, "streamId": "s2"}])
    sessions.write_meta("nb", meta_of(sessions.history("nb")))
    at = LINE["timestamp"]
    expected = [
        {"timestamp": at, "source": "applet", "appletSlug": "calculator", "prompt": "x" * 2_000},
        {"timestamp": at, "source": "user", "appletSlug": None, "prompt": "hi"},
    ]
    assert json.loads((folder / "nb" / "message-meta.json").read_bytes()) == {"messages": expected}
    assert sessions.read_meta("nb") == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '{"messages": 1}', '{"messages": [1, {"a": 2}]}'])
def test_broken_supplement_reads_as_what_is_whole_in_it(sessions: SessionStore, folder: Path, text: str) -> None:
    sessions.create("nb")
    assert sessions.read_meta("nb") == []
    (folder / "nb" / "message-meta.json").write_text(text)
    assert sessions.read_meta("nb") == ([{"a": 2}] if '"a"' in text else [])
