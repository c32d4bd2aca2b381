"""A save that is cut off, by a kill or by a failing system, leaves the applet as it was or as it was to be."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jupyter_applets.errors import AppletError, BrokenApplet
from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace.files import Workspace

WRITER = """
import sys
from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace.files import Workspace
store = AppletStore(Workspace(sys.argv[1]))
print("ready", flush=True)
number = 0
while True:
    number += 1
    text = f"{number}\\n" * 500
    store.save("a", html=text, js=text, css=text, state={"text": text}, files={"deep/x.bin": text.encode()})
"""


def is_whole(store: AppletStore) -> bool:
    applet = store.load("a")
    return len({applet.html, applet.js, applet.css, applet.state["text"], applet.files["deep/x.bin"].decode()}) == 1


def test_killed_saves_never_mix_two_versions(tmp_path: Path) -> None:
    page = tmp_path / "applets" / "a" / "content.html"
    text = "0\n" * 500
    AppletStore(Workspace(tmp_path)).save(
        "a", html=text, js=text, css=text, state={"text": text}, files={"deep/x.bin": text.encode()}
    )
    for kill in range(30):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        before = page.stat().st_ino
        while page.stat().st_ino == before:
            pass
        # Spread over the steps of a save, by work and not by the clock.
        for _ in range(kill * 2_003):
            pass
        process.kill()
        process.wait()
        process.stdout.close()
        store = AppletStore(Workspace(tmp_path))
        assert is_whole(store)
        assert all("broken" not in entry for entry in store.list())


def test_reader_beside_a_writer_sees_whole_applets(tmp_path: Path) -> None:
    writer, reader = AppletStore(Workspace(tmp_path)), AppletStore(Workspace(tmp_path))
    stop = threading.Event()

    def run(text: str) -> None:
        writer.save("a", html=text, js=text, css=text, state={"text": text}, files={"deep/x.bin": text.encode()})

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            run(str(number))

    run("0")
    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(150):
            assert is_whole(reader)
            reader.list()
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "unlink", "open", "fchmod", "mkdir", "link"])
@pytest.mark.parametrize("after", range(0, 12, 2))
def test_save_that_fails_on_its_way_leaves_the_applet_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, after: int
) -> None:
    """The system refuses once, at the n-th call."""
    store = AppletStore(Workspace(tmp_path))
    before = store.save("a", html="1", js="1", css="1", state={"x": 1}, files={"x.bin": b"1"})
    real = getattr(os, call)
    count = 0

    def fail(*args: object, **kwargs: object) -> object:
        nonlocal count
        count += 1
        if count == after + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **kwargs)

    monkeypatch.setattr(os, call, fail)
    try:
        store.save("a", html="2", js="2", css="", state={"x": 2}, files={"x.bin": b"2", "new/y.bin": b"2"})
        failed = False
    except AppletError:
        failed = True
    monkeypatch.undo()
    found = AppletStore(Workspace(tmp_path)).load("a")
    if failed:
        assert (found.html, found.js, found.css, found.state, found.files) in (
            (before.html, before.js, before.css, before.state, before.files),
            ("2", "2", "", {"x": 2}, {"x.bin": b"2", "new/y.bin": b"2"}),
        )
    else:
        assert (found.html, found.css) == ("2", "")
    left = [file.name for file in (tmp_path / "applets" / "a").rglob(".*")]
    assert left == [] or call == "unlink"


def test_plan_that_makes_no_sense_is_broken_until_the_next_save(tmp_path: Path) -> None:
    store = AppletStore(Workspace(tmp_path))
    store.save("a", html="1")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    for plan in (
        "",
        "{",
        '{"renames": {"../../secret": "x"}, "removals": []}',
        '{"renames": {}, "removals": ["../../secret"]}',
    ):
        (tmp_path / "applets" / "a" / ".saving").write_text(plan)
        with pytest.raises(BrokenApplet, match="cut off"):
            store.load("a")
        assert store.save("a", html="1").html == "1"
        assert store.load("a").html == "1"
    assert secret.read_text() == "secret"


def test_temporary_files_of_the_dead_are_swept(tmp_path: Path) -> None:
    store = AppletStore(Workspace(tmp_path))
    store.save("a", html="1")
    old, new = (tmp_path / "applets" / "a" / f".{digit * 16}.tmp" for digit in "01")
    for file in (old, new):
        file.write_text("")
    os.utime(old, (0, 0))
    assert store.save("a", html="2").files == {}
    assert not old.exists()
    assert new.exists()
