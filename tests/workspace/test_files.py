"""The verbs on files: what they give, what they refuse, and what a failing system leaves behind."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_applets.errors import FileMissing, FileTooLarge, PathRefused, StorageFailed, VersionConflict
from jupyter_applets.workspace.audit import Actor
from jupyter_applets.workspace.files import Workspace

USER = Actor("user")
SHEET = Actor("applet", "s", "w", "sheet")

VERBS: dict[str, Callable[[Workspace, str, Actor], object]] = {
    "read": lambda workspace, path, actor: workspace.read(path, actor),
    "open": lambda workspace, path, actor: workspace.open(path, actor).close(),
    "write": lambda workspace, path, actor: workspace.write(path, b"x", actor),
    "list": lambda workspace, path, actor: workspace.list(path, actor),
    "version": lambda workspace, path, actor: workspace.version(path, actor),
    "check": lambda workspace, path, actor: workspace.check(path, actor),
    "watchable": lambda workspace, path, actor: workspace.watchable(path, actor),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root, with a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "root"
    (inside / "data").mkdir(parents=True)
    (inside / "data" / "a.txt").write_text("hello")
    return inside


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    workspace = Workspace(root)
    yield workspace
    workspace.close()


def names(workspace: Workspace, path: str = "", actor: Actor = USER) -> list[str]:
    return [entry.name for entry in workspace.list(path, actor)]


def kept(root: Path, path: str) -> list[bytes]:
    """The versions before, oldest first."""
    place = root / ".jupyter-applets" / "backups" / path
    return [file.read_bytes() for file in sorted(place.iterdir())] if place.exists() else []


def failing(number: int) -> Callable[..., None]:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_written_is_read_with_the_same_version(workspace: Workspace) -> None:
    version = workspace.write("new/folder/b.bin", b"\0\xff", USER)
    found = workspace.read("new/folder/b.bin", USER)
    assert (found.path, found.data, found.version, found.size) == ("new/folder/b.bin", b"\0\xff", version, 2)
    assert workspace.version("new/folder/b.bin", USER) == version
    assert workspace.version("new/other", USER) is None


def test_absolute_paths_inside_the_root_work(workspace: Workspace, root: Path) -> None:
    assert workspace.read(str(root / "data" / "a.txt"), USER).path == "data/a.txt"
    assert workspace.check(str(root), USER) == ()
    assert names(workspace, f"{root}/") == names(workspace, ".") == names(workspace)


def test_root_may_be_a_link_and_is_known_by_both_names(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    workspace = Workspace(link)
    assert workspace.root == str(root.resolve())
    for path in ("data/a.txt", f"{link}/data/a.txt", f"{root.resolve()}/data/a.txt"):
        assert workspace.read(path, USER).data == b"hello"


def test_root_of_the_whole_system_works(root: Path) -> None:
    workspace = Workspace("/", private=str(root.resolve() / ".private").lstrip("/"))
    path = str(root.resolve() / "data" / "a.txt")
    assert workspace.read(path, USER).data == b"hello"
    assert workspace.read(path.lstrip("/"), USER).data == b"hello"
    workspace.write(path, b"new", USER)
    assert (root / "data" / "a.txt").read_bytes() == b"new"
    assert "data" in names(workspace, str(root.resolve()))
    assert {"etc", "usr"} <= set(names(workspace, "/"))


def test_file_over_the_limit_is_not_read(workspace: Workspace) -> None:
    assert workspace.read("data/a.txt", USER, limit=5).size == 5
    with pytest.raises(FileTooLarge, match="5 bytes"):
        workspace.read("data/a.txt", USER, limit=4)


def test_open_file_gives_any_part_and_stays_the_version_it_was(workspace: Workspace) -> None:
    data = os.urandom(1_000_000)
    workspace.write("big", data, USER)
    with workspace.open("big", USER) as reading:
        workspace.write("big", b"another", USER)
        assert b"".join(reading.chunks()) == data
        assert b"".join(reading.chunks(10, 20)) == data[10:20]
        assert b"".join(reading.chunks(999_990, 2_000_000, size=3)) == data[999_990:]
        assert max(map(len, reading.chunks())) <= 256 * 1024
        assert list(reading.chunks(5, 5)) == []
    assert workspace.version("big", USER) != reading.version


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_the_version_that_was_meant_is_replaced(workspace: Workspace, root: Path) -> None:
    first = workspace.write("a", b"1", USER)
    second = workspace.write("a", b"2", USER, if_match=first)
    with pytest.raises(VersionConflict, match="read it again"):
        workspace.write("a", b"3", USER, if_match=first)
    workspace.write("a", b"4", USER, if_match="*")
    (root / "a").unlink()
    for missing in (second, "*"):
        with pytest.raises(VersionConflict, match="not there"):
            workspace.write("a", b"5", USER, if_match=missing)
    assert not (root / "a").exists()


def test_of_writers_who_all_read_one_version_one_wins(workspace: Workspace) -> None:
    version = workspace.write("a", b"start", USER)
    outcomes: list[str] = []
    together = threading.Barrier(8)

    def run(number: int) -> None:
        together.wait()
        try:
            workspace.write("a", str(number).encode(), USER, if_match=version)
            outcomes.append(str(number))
        except VersionConflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=run, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [winner] = [outcome for outcome in outcomes if outcome != "conflict"]
    assert len(outcomes) == 8
    assert workspace.read("a", USER).data.decode() == winner


def test_version_before_is_kept_and_the_oldest_go(workspace: Workspace, root: Path) -> None:
    for number in range(15):
        workspace.write("data/a.txt", str(number).encode(), USER)
    assert kept(root, "data/a.txt") == [b"hello", *(str(number).encode() for number in range(14))]
    for number in range(15, 100):
        workspace.write("data/a.txt", str(number).encode(), USER)
        assert len(kept(root, "data/a.txt")) <= 20
    assert kept(root, "data/a.txt")[-10:] == [str(number).encode() for number in range(89, 99)]
    workspace.write("data/new.txt", b"1", USER)
    assert kept(root, "data/new.txt") == []


def test_backups_are_bounded_in_all(root: Path) -> None:
    workspace = Workspace(root)
    assert workspace.backups is not None
    workspace.backups._max_bytes = 10_000
    for number in range(8):
        workspace.write(f"{number}.bin", b"x" * 4_000, USER)
        workspace.write(f"{number}.bin", b"y", USER)
    left = [file for file in (root / ".jupyter-applets" / "backups").rglob("*") if file.is_file()]
    assert sorted(file.parent.name for file in left) == ["6.bin", "7.bin"]
    # What stood there before this process is counted too.
    again = Workspace(root)
    assert again.backups is not None
    again.backups._max_bytes = 5_000
    again.write("7.bin", b"z", USER)
    assert [*kept(root, "7.bin")] == [b"x" * 4_000, b"y"]
    assert kept(root, "6.bin") == []


def test_where_links_are_refused_the_version_before_is_copied(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", failing(errno.EPERM))
    workspace.write("data/a.txt", b"new", USER)
    assert kept(root, "data/a.txt") == [b"hello"]


def test_root_without_a_place_for_backups_can_be_edited(
    workspace: Workspace, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (root / ".jupyter-applets").symlink_to("/")
    workspace.write("data/a.txt", b"1", USER)
    workspace.write("data/a.txt", b"2", USER)
    assert (root / "data" / "a.txt").read_bytes() == b"2"
    assert caplog.text.count("No backups") == 1


def test_size_of_what_is_written_is_bounded(root: Path) -> None:
    with pytest.raises(FileTooLarge):
        Workspace(root, max_bytes=10).write("a", b"x" * 11, USER)
    assert not (root / "a").exists()


def test_file_in_the_way_of_a_folder_is_said_so(workspace: Workspace) -> None:
    with pytest.raises((StorageFailed, FileMissing), match="folder"):
        workspace.write("data/a.txt/b", b"", USER)
    with pytest.raises(PathRefused, match="plain file"):
        workspace.write("data", b"", USER)
    with pytest.raises(PathRefused, match="itself"):
        workspace.write("", b"", USER)


# ── listing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_list_tells_kinds_sizes_and_times(workspace: Workspace, root: Path) -> None:
    os.utime(root / "data" / "a.txt", ns=(0, 1_700_000_000_123_456_789))
    [entry] = workspace.list("data", USER)
    assert (entry.name, entry.type, entry.size) == ("a.txt", "file", 5)
    assert entry.modified == "2023-11-14T22:13:20.123Z"
    os.utime(root / "data" / "a.txt", ns=(0, -1_500_000_000))
    assert workspace.list("data", USER)[0].modified == "1969-12-31T23:59:58.500Z"
    assert [(e.name, e.type) for e in workspace.list("", USER)] == [("data", "directory")]


def test_list_leaves_out_what_cannot_be_asked_for(workspace: Workspace, root: Path) -> None:
    (root / ".env").write_text("")
    (root / "x.pem").write_text("")
    (root / "out").symlink_to("../secret.txt")
    (root / "gone").symlink_to("nowhere")
    (root / "inside").symlink_to("data/a.txt")
    (root / "to-secret").symlink_to(".env")
    (root / ".0123456789abcdef.tmp").write_text("")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(root)
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
    Path(os.fsdecode(bytes(root) + b"/\xff\xfe")).write_text("")
    (root / "a\nb").write_text("")
    (root / "Ünïcode 文件.txt").write_text("")
    workspace.read("data/a.txt", USER)
    assert names(workspace) == ["data", "inside", "Ünïcode 文件.txt"]
    for entry in workspace.list("", USER):
        assert workspace.check(entry.name, USER)


def test_list_of_what_is_no_folder_is_missing(workspace: Workspace) -> None:
    for path in ("data/a.txt", "nowhere"):
        with pytest.raises(FileMissing):
            workspace.list(path, USER)


# ── out of reach ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "data/.git/config",
        ".jupyter-applets/audit.jsonl",
        ".Jupyter-Applets/backups",
        "data/.jupyter-applets/x",
        "a.PEM",
        ".\u017fsh/config",
        ".e\u200dnv",
        "\uff0eenv",
    ],
)
def test_no_verb_reaches_secrets_or_private_files(workspace: Workspace, verb: str, path: str) -> None:
    with pytest.raises(PathRefused):
        VERBS[verb](workspace, path, USER)


@pytest.mark.parametrize("verb", ["read", "open", "list", "write"])
def test_link_inside_the_root_is_no_way_to_them(workspace: Workspace, root: Path, verb: str) -> None:
    (root / ".env").write_text("secret")
    (root / "file").symlink_to(".env")
    (root / ".ssh").mkdir()
    (root / "folder").symlink_to(".ssh")
    workspace.read("data/a.txt", USER)
    (root / "log").symlink_to(".jupyter-applets/audit.jsonl")
    for path in ("file", "folder", "log", "folder/x"):
        with pytest.raises((PathRefused, FileMissing)):
            VERBS[verb](workspace, path, USER)


def test_applet_writes_no_applet(workspace: Workspace, root: Path) -> None:
    workspace.write("applets/sheet/app.json", b"{}", USER)
    (root / "link").symlink_to("applets/sheet")
    assert workspace.read("applets/sheet/app.json", SHEET).data == b"{}"
    for path in (
        *(f"applets/sheet/{name}" for name in ("app.json", "App.JSON", "meta.json", "script.js", "content.html")),
        *(
            "applets/other/script.js",
            "applets/other/data/x.csv",
            "applets/_index.json",
            "applets/sheet",
            "link/app.json",
        ),
    ):
        with pytest.raises(PathRefused, match="part of an applet"):
            workspace.write(path, b'{"permissions": {"files": "write"}}', SHEET)
    with pytest.raises(PathRefused, match="part of an applet"):
        workspace.write("applets/sheet/data.csv", b"1", Actor("applet", "s", "w"))
    workspace.write("applets/sheet/data.csv", b"1", SHEET)
    workspace.write("app.json", b"{}", SHEET)


@pytest.mark.parametrize("verb", ["read", "open", "write", "version", "check", "watchable"])
def test_applet_does_not_reach_what_a_save_leaves_behind(workspace: Workspace, verb: str) -> None:
    workspace.write("applets/sheet/content.html", b"<p>", USER)
    for path in ("applets/sheet/.saving", "applets/sheet/.0123456789abcdef.tmp", "applets/.x", "applets/sheet/.a/b"):
        with pytest.raises(PathRefused, match="store's own"):
            VERBS[verb](workspace, path, SHEET)


@pytest.mark.parametrize("verb", ["read", "open", "write", "version", "check", "watchable"])
def test_applet_reaches_its_own_state_only(workspace: Workspace, root: Path, verb: str) -> None:
    for slug in ("sheet", "other"):
        workspace.write(f"applets/{slug}/state.json", b"{}", USER)
    (root / "link").symlink_to("applets/other")
    if verb != "write":
        VERBS[verb](workspace, "applets/sheet/state.json", SHEET)
    VERBS[verb](workspace, "applets/other/state.json", USER)
    for path in ("applets/other/state.json", "applets/other/State.JSON", "Applets/sheet2/state.json"):
        with pytest.raises(PathRefused, match="another applet"):
            VERBS[verb](workspace, path, SHEET)
    if verb in ("read", "open", "write"):
        with pytest.raises(PathRefused, match="applet"):
            VERBS[verb](workspace, "link/state.json", SHEET)
    assert names(workspace, "applets/other", SHEET) == []
    assert names(workspace, "applets/sheet", SHEET) == ["state.json"]
