"""Opening holds to the root while links, devices and races try to lead out of it; both ways of opening."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_applets.errors import FileMissing, PathRefused
from jupyter_applets.workspace import atomic, beneath


@pytest.fixture(params=["openat2", "walk"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "walk":
        monkeypatch.setattr(beneath, "_has_openat2", lambda: False)
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A root, with a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "root"
    (inside / "data").mkdir(parents=True)
    (inside / "data" / "a.txt").write_text("hello")
    return inside


@pytest.fixture
def root(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def read(root: int, *parts: str) -> str:
    with os.fdopen(beneath.open_file(root, parts)) as file:
        return file.read()


def test_file_inside_is_read(root: int) -> None:
    assert read(root, "data", "a.txt") == "hello"


@pytest.mark.parametrize("parts", [("no.txt",), ("no", "a.txt"), ("data", "a.txt", "b")])
def test_what_is_not_there_is_missing(root: int, parts: tuple[str, ...]) -> None:
    with pytest.raises(FileMissing):
        beneath.open_file(root, parts)


def test_folder_is_no_file(root: int) -> None:
    with pytest.raises(PathRefused, match="folder"):
        beneath.open_file(root, ("data",))
    os.close(beneath.open_folder(root, ()))


def test_links_out_are_refused(root: int, folder: Path) -> None:
    (folder / "up").symlink_to("..")
    (folder / "file").symlink_to("../secret.txt")
    (folder / "absolute").symlink_to(folder.parent / "secret.txt")
    for parts in (("up", "secret.txt"), ("file",), ("absolute",)):
        with pytest.raises((PathRefused, FileMissing)):
            beneath.open_file(root, parts)


def test_link_that_stays_inside_is_followed_where_the_kernel_decides(root: int, folder: Path, way: str) -> None:
    (folder / "same").symlink_to("data/a.txt")
    if way == "openat2":
        assert read(root, "same") == "hello"
    else:
        with pytest.raises(PathRefused):
            read(root, "same")


def test_fifo_is_refused_without_waiting(root: int, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(PathRefused, match="plain"):
        beneath.open_file(root, ("pipe",))


def test_link_swapped_in_while_opening_never_leads_out(root: int, folder: Path) -> None:
    """A thread swaps a folder for a link out of the root as fast as it can; no read may ever see the secret."""
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret")
    (folder / "real").mkdir()
    (folder / "real" / "a.txt").write_text("hello")
    (folder / "link").symlink_to(outside)
    target = folder / "swap"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for source in ("real", "link"):
                (folder / source).rename(target)
                target.rename(folder / source)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(5_000):
            try:
                seen.add(read(root, "swap", "a.txt"))
            except (FileMissing, PathRefused):
                continue
    finally:
        stop.set()
        thread.join()
    assert seen <= {"hello"}


def test_write_replaces_whole_and_keeps_the_mode(root: int, folder: Path) -> None:
    file = folder / "data" / "a.txt"
    file.chmod(0o640)
    atomic.write(root, ("data", "a.txt"), b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    atomic.write(root, ("data", "b.txt"), b"x" * 3_000_000)
    assert (folder / "data" / "b.txt").stat().st_size == 3_000_000
    assert sorted(p.name for p in (folder / "data").iterdir()) == ["a.txt", "b.txt"]


def test_write_through_a_link_is_refused_and_changes_nothing(root: int, folder: Path) -> None:
    (folder / "out").symlink_to("../secret.txt")
    (folder / "up").symlink_to("..")
    for parts in (("out",), ("up", "secret.txt")):
        with pytest.raises((PathRefused, FileMissing)):
            atomic.write(root, parts, b"overwritten")
    assert (folder.parent / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize("failing", ["write", "fsync", "rename", "fchmod"])
def test_write_that_fails_leaves_the_old_bytes_and_nothing_else(
    root: int, folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="No space"):
        atomic.write(root, ("data", "a.txt"), b"new")
    monkeypatch.undo()
    assert (folder / "data" / "a.txt").read_text() == "hello"
    assert [p.name for p in (folder / "data").iterdir()] == ["a.txt"]
