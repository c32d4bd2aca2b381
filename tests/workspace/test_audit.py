"""The audit log: one line an operation, whatever happens to the log or to the process."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets.errors import AppletError
from jupyter_applets.workspace.audit import Actor
from jupyter_applets.workspace.files import Workspace

APPLET = Actor("applet", "session", "window", "sheet")


def log(root: Path, name: str = "audit.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / ".jupyter-applets" / name).read_text().splitlines()]


def test_each_operation_is_one_line(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.write("a", b"123", APPLET)
    workspace.read("a", APPLET)
    workspace.open("a", APPLET).close()
    workspace.list("", APPLET)
    workspace.watchable("a", APPLET)
    for bad in ("../x", "missing", "\udcff\n"):
        with pytest.raises(AppletError):
            workspace.read(bad, APPLET)
    lines = log(tmp_path)
    assert [(line["verb"], line["path"], line["ok"]) for line in lines] == [
        ("write", "a", True),
        ("read", "a", True),
        ("read", "a", True),
        ("list", "", True),
        ("watch", "a", True),
        ("read", "../x", False),
        ("read", "missing", False),
        ("read", "\udcff\n", False),
    ]
    assert [line.get("bytes") for line in lines[:4]] == [3, 3, 3, None]
    assert [line.get("code") for line in lines[4:]] == [None, "PATH_REFUSED", "FILE_MISSING", "PATH_REFUSED"]
    assert {(line["actor"], line["session"], line["windowId"]) for line in lines} == {("applet", "session", "window")}
    assert lines[0]["at"].endswith("Z")
    assert len(lines[0]["at"]) == len("2026-01-01T00:00:00.000Z")


def test_log_and_its_folder_are_for_their_owner_and_not_for_git(tmp_path: Path) -> None:
    Workspace(tmp_path).list("", APPLET)
    private = tmp_path / ".jupyter-applets"
    assert private.stat().st_mode & 0o777 == 0o700
    assert (private / "audit.jsonl").stat().st_mode & 0o777 == 0o600
    assert (private / ".gitignore").read_text().splitlines()[-1] == "*"


def test_full_log_is_turned_over(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    other = Workspace(tmp_path)
    for each in (workspace, other):
        each.audit._max_bytes = 2_000
    for number in range(30):
        (workspace if number % 2 else other).list("", Actor("user", str(number)))
    lines = log(tmp_path, "audit.1.jsonl") + log(tmp_path)
    assert [line["session"] for line in lines] == [str(number) for number in range(30 - len(lines), 30)]
    assert len(lines) > 12
    assert (tmp_path / ".jupyter-applets" / "audit.1.jsonl").stat().st_size < 2_400


def test_line_that_a_crash_tore_does_not_spoil_the_next(tmp_path: Path) -> None:
    Workspace(tmp_path).list("", APPLET)
    path = tmp_path / ".jupyter-applets" / "audit.jsonl"
    with path.open("a") as file:
        file.write('{"at": "2026')
    Workspace(tmp_path).list("", APPLET)
    first, torn, last = path.read_text().splitlines()
    assert json.loads(first)["ok"]
    assert torn == '{"at": "2026'
    assert json.loads(last)["ok"]


def test_log_that_cannot_be_written_stops_nothing_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".jupyter-applets").write_text("in the way")
    workspace = Workspace(tmp_path)
    workspace.write("a", b"1", APPLET)
    assert workspace.read("a", APPLET).data == b"1"
    assert caplog.text.count("audit log") == 1
    (tmp_path / ".jupyter-applets").unlink()
    workspace.read("a", APPLET)
    assert len(log(tmp_path)) == 1


def test_log_that_was_deleted_comes_back(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.list("", APPLET)
    (tmp_path / ".jupyter-applets" / "audit.jsonl").unlink()
    workspace.list("", APPLET)
    assert len(log(tmp_path)) == 1


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    workspaces = [Workspace(tmp_path) for _ in range(2)]

    def run(number: int) -> None:
        for _ in range(200):
            workspaces[number % 2].list("", Actor("user", "x" * 50 * number))

    threads = [threading.Thread(target=run, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log(tmp_path)) == 1_200
