"""Files and saved applets, each beside the bare system calls that do the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter

import msgspec

from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace.audit import Actor
from jupyter_applets.workspace.files import Entry, Workspace

from .figures import Contender, Target

FILES = 10_000
APPLETS = 1_000
WRITES = 100
WRITE_BYTES = 10 * 1024
LARGE_BYTES = 100 * 1000 * 1000

LIST = "list of 10,000 files, as JSON"
SCAN = "floor: scandir, stat, the same JSON"
WRITE = "write of 10 KiB, with backup and log"
RENAME = "floor: temp, fsync, rename"
RENAME_FOLDER = "floor: the same and fsync of the folder"
SAVE = "save, then list, of 1,000 applets"
READ = "100 MB in pieces"
BARE_READ = "floor: a bare read loop"

TARGETS = [
    Target(LIST, SCAN, most=1.5),
    Target(WRITE, RENAME, most=2),
    # A rename that a power cut may take back is not what users are promised: told, not asked for.
    Target(WRITE, RENAME_FOLDER),
    # As a rate: under 100 ms each.
    Target(SAVE, least=10),
    Target(READ, BARE_READ),
]

_ACTOR = Actor("applet", "session", "window", "sheet")


FIGURES = "hijk"


def contenders(folder: Path, wanted: Collection[str]) -> Iterator[Contender]:
    workspace = Workspace(folder)
    if "h" in wanted:
        yield from _lists(folder, workspace)
    if "i" in wanted:
        yield from _writes(folder, workspace)
    if "j" in wanted:
        yield _saves(folder)
    if "k" in wanted:
        yield from _reads(folder, workspace)


def _lists(folder: Path, workspace: Workspace) -> Iterator[Contender]:
    many = folder / "many"
    many.mkdir()
    for number in range(FILES):
        (many / f"measurement-{number:05d}.csv").write_text("x" * (number % 100))

    def ours() -> None:
        msgspec.json.encode({"files": workspace.list("many", _ACTOR)})

    def floor() -> None:
        seconds: dict[int, str] = {}
        with os.scandir(many) as found:
            files = [_fields(entry, seconds) for entry in found]
        msgspec.json.encode({"files": files})

    yield Contender("h", LIST, _timed(ours, 5))
    yield Contender("h", SCAN, _timed(floor, 5))


def _fields(entry: os.DirEntry[str], seconds: dict[int, str]) -> Entry:
    """As fast as we know how, so that what is compared is what we do besides."""
    status = entry.stat(follow_symlinks=False)
    second, rest = divmod(status.st_mtime_ns, 1_000_000_000)
    if second not in seconds:
        seconds[second] = datetime.fromtimestamp(second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    modified = f"{seconds[second]}.{rest // 1_000_000:03d}Z"
    return Entry(entry.name, "directory" if entry.is_dir() else "file", status.st_size, modified)


def _writes(folder: Path, workspace: Workspace) -> Iterator[Contender]:
    data = os.urandom(WRITE_BYTES)
    workspace.write("ours/file.bin", data, _ACTOR)
    (folder / "bare").mkdir()
    bare = os.open(folder / "bare", os.O_RDONLY | os.O_DIRECTORY)

    def replace(*, durable: bool) -> None:
        descriptor = os.open("temporary", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=bare)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
        os.rename("temporary", "file.bin", src_dir_fd=bare, dst_dir_fd=bare)
        if durable:
            os.fsync(bare)

    yield Contender("i", WRITE, _timed(lambda: workspace.write("ours/file.bin", data, _ACTOR), WRITES))
    yield Contender("i", RENAME, _timed(lambda: replace(durable=False), WRITES))
    yield Contender("i", RENAME_FOLDER, _timed(lambda: replace(durable=True), WRITES))


def _saves(folder: Path) -> Contender:
    (folder / "saved").mkdir()
    store = AppletStore(Workspace(folder / "saved"))
    for number in range(APPLETS):
        store.save(f"applet-{number}", html=f"<p>{number}", js="let x = 1", css="p {}", state={"number": number})
    count = 0

    def save() -> None:
        nonlocal count
        count += 1
        store.save("applet-500", html=f"<p>changed {count}", js="let x = 1", css="p {}")
        assert len(store.list()) >= APPLETS

    save()
    return Contender("j", SAVE, _timed(save, 5), per=1)


def _reads(folder: Path, workspace: Workspace) -> Iterator[Contender]:
    large = folder / "large.bin"
    with large.open("wb") as file:
        for _ in range(100):
            file.write(os.urandom(LARGE_BYTES // 100))

    def ours() -> None:
        with workspace.open("large.bin", _ACTOR) as reading:
            assert sum(map(len, reading.chunks())) == LARGE_BYTES

    def floor() -> None:
        descriptor = os.open(large, os.O_RDONLY)
        total = 0
        while piece := os.read(descriptor, 256 * 1024):
            total += len(piece)
        os.close(descriptor)
        assert total == LARGE_BYTES

    yield Contender("k", READ, _timed(ours, 3))
    yield Contender("k", BARE_READ, _timed(floor, 3))


def _timed(action: Callable[[], object], times: int) -> Callable[[], list[float]]:
    action()  # warm

    def measure() -> list[float]:
        durations = []
        for _ in range(times):
            began = perf_counter()
            action()
            durations.append(perf_counter() - began)
        return durations

    return measure
