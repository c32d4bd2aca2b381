"""The verbs on files while the system fails, processes are killed, links are swapped: nothing is torn or leaks."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_applets.errors import AppletError, StorageFailed
from jupyter_applets.workspace import beneath
from jupyter_applets.workspace.audit import Actor
from jupyter_applets.workspace.files import Workspace

USER = Actor("user")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "root"
    (inside / "data").mkdir(parents=True)
    (inside / "data" / "a.txt").write_text("hello")
    return inside


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(root)


def names(workspace: Workspace, path: str) -> list[str]:
    return [entry.name for entry in workspace.list(path, USER)]


def kept(root: Path, path: str) -> list[bytes]:
    """The versions before, oldest first."""
    place = root / ".jupyter-applets" / "backups" / path
    return [file.read_bytes() for file in sorted(place.iterdir())] if place.exists() else []


# ── a system that fails ──────────────────────────────────────────────────────────────────────────────────────────────


def failing(number: int) -> Callable[..., None]:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod", "link", "open"])
@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "quota"), (errno.EIO, "disk failed"), (errno.EROFS, "read-only")],
)
def test_write_that_fails_says_why_and_leaves_the_old_file(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, said: str
) -> None:
    workspace.write("data/a.txt", b"old", USER)
    if call == "link" and number == errno.EROFS:
        pytest.skip("no backup is made where none can be")
    monkeypatch.setattr(os, call, failing(number))
    with pytest.raises(StorageFailed, match=said):
        workspace.write("data/a.txt", b"new", USER)
    monkeypatch.undo()
    assert (root / "data" / "a.txt").read_bytes() == b"old"
    assert [file.name for file in (root / "data").iterdir()] == ["a.txt"]
    assert kept(root, "data/a.txt") == [b"hello"]


def test_disk_limit_of_the_system_is_said_and_leaves_nothing(root: Path) -> None:
    """The real thing: the kernel refuses in the middle of a file."""
    code = f"""
import resource, signal
from jupyter_applets.errors import StorageFailed
from jupyter_applets.workspace.files import Actor, Workspace
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
workspace = Workspace({str(root)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    workspace.write("data/a.txt", b"x" * 200_000, Actor("user"))
except StorageFailed as e:
    print(e.message)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "larger than the system allows" in result.stdout
    assert (root / "data" / "a.txt").read_text() == "hello"
    assert [file.name for file in (root / "data").iterdir()] == ["a.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_forbidden_file_is_said_to_be(workspace: Workspace, root: Path) -> None:
    (root / "data" / "a.txt").chmod(0)
    with pytest.raises(StorageFailed, match="not permit"):
        workspace.read("data/a.txt", USER)


def test_killed_writers_never_tear_a_file(root: Path) -> None:
    """A process that writes as fast as it can is killed at random moments."""
    code = f"""
import sys
from jupyter_applets.workspace.files import Actor, Workspace
workspace = Workspace({str(root)!r})
print("ready", flush=True)
number = 0
while True:
    number += 1
    workspace.write("data/a.txt", (b"%08d" % number) * 20_000, Actor("user"))
"""
    for kill in range(25):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        before = (root / "data" / "a.txt").stat().st_ino
        while kill and (root / "data" / "a.txt").stat().st_ino == before:
            pass
        # Spread over the steps of a write, by work and not by the clock.
        for _ in range(kill * 997):
            pass
        process.kill()
        process.wait()
        process.stdout.close()
        data = (root / "data" / "a.txt").read_bytes()
        assert data == b"hello" or data == data[:8] * 20_000
    with_temporaries = Workspace(root)
    assert names(with_temporaries, "data") == ["a.txt"]
    for line in (root / ".jupyter-applets" / "audit.jsonl").read_text().splitlines():
        assert line.startswith('{"at"')


# ── races ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["openat2", "walk"])
def test_links_swapped_in_meanwhile_never_lead_out(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "walk":
        monkeypatch.setattr(beneath, "_has_openat2", lambda: False)
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret")
    (outside / "only-outside").write_text("")
    (root / "real").mkdir()
    (root / "real" / "a.txt").write_text("hello")
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for source in ("real", "link"):
                try:
                    (root / source).rename(root / "swap")
                    (root / "swap").rename(root / source)
                except OSError:  # a write has just made a folder there
                    shutil.rmtree(root / "swap", ignore_errors=True)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[object] = set()
    try:
        for _ in range(400):
            for verb in (
                lambda: seen.add(workspace.read("swap/a.txt", USER).data),
                lambda: seen.update(names(workspace, "swap")),
                lambda: workspace.write("swap/a.txt", b"hello", USER) and None,
            ):
                try:
                    verb()
                except AppletError:
                    continue
    finally:
        stop.set()
        thread.join()
    assert b"secret" not in seen
    assert "only-outside" not in seen
    assert (outside / "a.txt").read_text() == "secret"
    assert sorted(file.name for file in outside.iterdir()) == ["a.txt", "only-outside"]
