"""A server that is killed while it writes: what it had acknowledged is there, and what is torn is the last line."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from jupyter_applets.errors import AppletError
from jupyter_applets.store.sessions import SessionStore
from jupyter_applets.workspace.files import Workspace

WRITER = """
import sys
from jupyter_applets.store.sessions import SessionStore
from jupyter_applets.workspace.files import Workspace
store = SessionStore(Workspace(sys.argv[1]))
def line(kind, number, text):
    return {"type": kind, "data": {"content": text}, "timestamp": "", "streamId": f"{sys.argv[2]}-{number}"}
number = 0
while True:
    number += 1
    text = f"{number} " * 3000
    store.append("nb", [line("user.message", number, text), line("assistant.message", number, text)])
    print("said", number, flush=True)
    if number % 3 == 0:
        name = store.put_output("nb", f"{sys.argv[2]}-{number}", "text/plain", text.encode(), "").name
        print("shown", name, flush=True)
        store.write_meta("nb", [{"prompt": text}])
"""


def is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def test_killed_server_loses_nothing_that_it_had_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / ".jupyter-applets" / "sessions" / "nb"
    acknowledged: set[str] = set()
    shown: list[str] = []
    for kill in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(kill)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        told = process.stdout.readline()
        # Spread over the steps, by work and not by the clock.
        for _ in range(kill * 40_009):
            pass
        process.kill()
        told += process.stdout.read()
        process.wait()
        process.stdout.close()
        for word, what in (x.split() for x in told.splitlines(keepends=True) if x.endswith("\n")):
            if word == "said":
                acknowledged.add(f"{kill}-{what}")
            else:
                shown.append(what)
        store = SessionStore(Workspace(tmp_path))
        found = {message.stream_id: message for message in store.history("nb") if message.role == "assistant"}
        assert acknowledged <= {stream_id for stream_id, message in found.items() if message.error is None}
        # A torn line is the last that its process wrote: behind it comes another process, from its beginning.
        lines = [line for line in (folder / "events.jsonl").read_bytes().split(b"\n") if line]
        for line, following in pairwise(lines):
            if not is_whole(line):
                assert json.loads(following)["streamId"].endswith("-1")
        for name in shown:
            mime, data = store.get_output("nb", name)
            assert mime == "text/plain"
            assert len(set(data.split())) == 1
        for name in ("session.json", "outputs.json", "message-meta.json"):
            if (folder / name).exists():
                json.loads((folder / name).read_bytes())
        assert [info.id for info in store.all()] == ["nb"]
    assert shown


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "open", "mkdir", "fchmod"])
@pytest.mark.parametrize("after", range(8))
def test_failing_system_is_told_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, after: int
) -> None:
    """The system refuses once, at the n-th call."""
    store = SessionStore(Workspace(tmp_path))
    line = {"type": "user.message", "data": {"content": "hi"}, "timestamp": "", "streamId": "s1"}
    real = getattr(os, call)
    count = 0

    def fail(*args: object, **kwargs: object) -> object:
        nonlocal count
        count += 1
        if count == after + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **kwargs)

    monkeypatch.setattr(os, call, fail)
    done = []
    for step in (
        lambda: store.append("nb", [line]),
        lambda: store.put_output("nb", "s1", "image/png", b"x"),
        lambda: store.write_meta("nb", []),
        lambda: store.create("s-1", ephemeral=True),
    ):
        try:
            step()
            done.append(True)
        except AppletError as e:
            assert "disk is full" in e.message  # noqa: PT017
            done.append(False)
    monkeypatch.undo()
    assert done.count(False) <= 1
    found = store.history("nb")
    assert [m.content for m in found if m.role == "user"] == (["hi"] if done[0] else [])
    assert not found or not done[1] or len(found[1].outputs) == 1
    left = [path.name for path in (tmp_path / ".jupyter-applets").rglob(".*.tmp")]
    assert left == []


def test_line_that_the_full_disk_tore_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SessionStore(Workspace(tmp_path))
    lines = [
        {"type": kind, "data": {"content": "x" * 100}, "timestamp": "", "streamId": "s1"}
        for kind in ("user.message", "assistant.message")
    ]
    store.create("nb")
    real = os.write
    written = False

    def fill_up(descriptor: int, data: bytes) -> int:
        nonlocal written
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = True
        return real(descriptor, bytes(data)[:250])

    monkeypatch.setattr(os, "write", fill_up)
    with pytest.raises(AppletError, match="disk is full"):
        store.append("nb", lines)
    monkeypatch.undo()
    store.append("nb", lines)
    assert [(m.role, m.error) for m in store.history("nb")] == [("user", None), ("assistant", None)]
