"""Decisions are kept as they were made; a file that cannot be read is set aside, and people are asked again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from jupyter_applets.errors import StoreError
from jupyter_applets.store.decisions import Decisions
from jupyter_applets.workspace.files import Workspace


@pytest.fixture
def decisions(tmp_path: Path) -> Decisions:
    return Decisions(Workspace(tmp_path))


def test_decisions_are_kept(decisions: Decisions, tmp_path: Path) -> None:
    assert decisions.load() == {}
    given = {"sheet": {"files": "read", "network": ["https://a.example"]}, "other": {}}
    decisions.change(given)
    assert decisions.load() == Decisions(Workspace(tmp_path)).load() == given


def test_change_leaves_what_others_have_kept(decisions: Decisions, tmp_path: Path) -> None:
    other = Decisions(Workspace(tmp_path))
    decisions.change({"sheet": {"files": "read"}, "old": {"run": True}})
    other.change({"plot": {"files": "write"}})
    decisions.change({"old": None})
    assert decisions.load() == other.load() == {"sheet": {"files": "read"}, "plot": {"files": "write"}}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', '{"a": {}, "a": {}}', "\x00"])
def test_broken_file_is_set_aside(
    decisions: Decisions, tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    decisions.change({"a": {}})
    private = tmp_path / ".jupyter-applets"
    (private / "permissions.json").write_text(content)
    assert decisions.load() == {}
    assert "asked for again" in caplog.text
    [aside] = private.glob("permissions.json.broken-*")
    assert aside.read_text() == content
    decisions.change({"b": {"agent": True}})
    assert decisions.load() == {"b": {"agent": True}}


def test_what_json_cannot_hold_is_refused_and_the_old_stays(decisions: Decisions) -> None:
    decisions.change({"a": {}})
    with pytest.raises(StoreError):
        decisions.change({"a": {"x": object()}})
    assert decisions.load() == {"a": {}}


def test_reader_beside_a_writer_sees_whole_files(decisions: Decisions) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            decisions.change({"a": {"x": "y" * 10_000}})

    decisions.change({"a": {"x": "y" * 10_000}})
    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert all(decisions.load() == {"a": {"x": "y" * 10_000}} for _ in range(100))
    finally:
        stop.set()
        thread.join()
