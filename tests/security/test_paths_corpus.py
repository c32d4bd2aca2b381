"""A corpus of ways out, tried on every verb: none leads anywhere, and no file outside the root is ever touched.

The interpreter itself reports each path that is opened, listed, renamed or removed, so that a way out which happens to
answer with an error is found too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets.errors import AppletError, InvalidSlug, PathRefused
from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace import beneath
from jupyter_applets.workspace.audit import Actor
from jupyter_applets.workspace.files import Workspace

ACTOR = Actor("applet", "session", "window", "sheet")
SECRET = "the secret"

UP = [
    "..",
    "../",
    "../secret",
    "../../etc/passwd",
    "a/../../secret",
    "./../secret",
    "a/./../../secret",
    "../" * 20 + "etc/passwd",
    "a/b/c/../../../../secret",
    ".../...//secret",
    "....//secret",
    "..;/secret",
    "..//secret",
    "/..//secret",
    "a/..",
    "a/../",
    "../root/../secret",
    "../root/a.txt",
]
ENCODED = [
    "%2e%2e/secret",
    "%2e%2e%2fsecret",
    "..%2fsecret",
    "%2E%2E%2Fsecret",
    ".%2e/secret",
    "%2e./secret",
    "%252e%252e%252fsecret",
    "%25252e%25252e%25252fsecret",
    "..%252fsecret",
    "..%c0%afsecret",
    "..%c1%9csecret",
    "%c0%ae%c0%ae/secret",
    "%e0%80%ae%e0%80%ae/secret",
    "%uff0e%uff0e/secret",
    "..%u2215secret",
    "..%5csecret",
    "%2e%2e%5csecret",
    "..%255csecret",
    "%00../secret",
    "a.txt%00.png",
    "a.txt%2500",
    "%2fetc%2fpasswd",
    "%252fetc%252fpasswd",
    "file:%2f%2f%2fetc%2fpasswd",
    "&#46;&#46;/secret",
    "=2e=2e/secret",
    "\\u002e\\u002e/secret",
    "0x2e0x2e/secret",
    "+..+/secret",
]
LOOK_ALIKES = [
    "\uff0e\uff0e/secret",
    "\u2024\u2024/secret",
    "\u2025/secret",
    "\u2026/secret",
    "..\u2215secret",
    "..\u2044secret",
    "..\uff0fsecret",
    "..\u29f8secret",
    "..\uff3csecret",
    "\uff0e\uff0e\uff0fsecret",
    ".\u200d./secret",
    ".\u200b./secret",
    "\ufeff../secret",
    "../\u202esecret",
    ".\u00ad./secret",
    "\u3002\u3002/secret",
    "\u00b7\u00b7/secret",
    "\ufe52\ufe52/secret",
]
NOT_TEXT = [
    "a\0",
    "../secret\0.txt",
    "\0",
    "a.txt\0../secret",
    "a\n",
    "a\r\nb",
    "\x7f",
    "\x1b[2J",
    "\udcff",
    "\ud800/../secret",
    "a\udc2f..\udc2fsecret",
]
OVERLONG = [
    "x" * 256,
    "é" * 128,
    "x/" * 3000,
    "../" * 3000,
    "a/" * 101 + "b",
    "%2e" * 2000,
    "/" * 5000,
    "./" * 2048 + "../secret",
]
WINDOWS = [
    "..\\secret",
    "..\\..\\secret",
    "a\\..\\..\\secret",
    "\\etc\\passwd",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "c:secret",
    "C:",
    "\\\\host\\share\\x",
    "//host/share/x",
    "\\\\?\\C:\\x",
    "//?/C:/x",
    "\\\\.\\pipe\\x",
    "//./pipe/x",
    "file.txt:stream",
    "a.txt::$DATA",
    ".git::$INDEX_ALLOCATION/config",
    "con",
    "NUL",
    "aux.txt",
    "com1",
    "COM¹",
    "lpt9.log",
    "prn/x",
    "a.",
    "a ",
    "a./b",
    ".. /secret",
    "... ",
    "..  ",
    ".env.",
    ".env ",
]
ABSOLUTE = [
    "/etc/passwd",
    "/",
    "/..",
    "//etc/passwd",
    "///etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/secret",
    "/dev/null",
    "/dev/fd/0",
    "/dev/stdin",
    "~/secret",
    "~root/.profile",
    "file:///etc/passwd",
    "http://host/x",
    "$HOME/secret",
    "{root}-sibling/secret",
    "{root}x",
    "{root}/../secret",
    "{root}/./../secret",
    "{root}//../secret",
    "{above}",
    "{above}/secret",
    "{above}/root-sibling/secret",
    "{upper}/a.txt",
    "/{root}/a.txt",
]
LINKS = [
    "link-up/secret",
    "link-up",
    "link-file",
    "link-absolute",
    "link-chain",
    "link-folder/secret",
    "link-proc/environ",
    "link-magic",
    "link-self",
    "link-dangling",
    "link-root/etc/passwd",
    "link-env",
    "link-private/audit.jsonl",
]
SECRETS = [
    ".env",
    ".ENV",
    ".env.local",
    "a/.git/config",
    ".ssh/id_rsa",
    "server.pem",
    "x.KEY",
    ".jupyter-applets",
    ".jupyter-applets/audit.jsonl",
    ".JUPYTER-APPLETS/backups",
    "applets/other/state.json",
    "applets/OTHER/STATE.json",
    "Applets/other/state.json",
    ".\u017fsh/id_rsa",
    ".e\u200dnv",
    "jpserver-1.json",
    "runtime/kernel-1.json",
]
CORPUS = [*UP, *ENCODED, *LOOK_ALIKES, *NOT_TEXT, *OVERLONG, *WINDOWS, *ABSOLUTE, *LINKS, *SECRETS]

VERBS: dict[str, Callable[[Workspace, str], Any]] = {
    "read": lambda workspace, path: workspace.read(path, ACTOR).data,
    "open": lambda workspace, path: b"".join(workspace.open(path, ACTOR).chunks()),
    "write": lambda workspace, path: workspace.write(path, b"overwritten", ACTOR),
    "list": lambda workspace, path: [entry.name for entry in workspace.list(path, ACTOR)],
    "version": lambda workspace, path: workspace.version(path, ACTOR),
    "watchable": lambda workspace, path: workspace.watchable(path, ACTOR),
    "slug: load": lambda workspace, path: AppletStore(workspace).load(path),
    "slug: save": lambda workspace, path: AppletStore(workspace).save(path, html="overwritten"),
    "slug: delete": lambda workspace, path: AppletStore(workspace).delete(path),
    "file of an applet": lambda workspace, path: AppletStore(workspace).save("sheet", html="", files={path: b"x"}),
    "module of an applet": lambda workspace, path: AppletStore(workspace).save(
        "sheet", html="", modules={"m": f"applet:/{path}"}
    ),
}

_EVENTS = {
    "open",
    "os.listdir",
    "os.scandir",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.truncate",
}
_touched: list[str] | None = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _touched is not None and event in _EVENTS:
        for argument in arguments[: 2 if event in ("os.rename", "os.link") else 1]:
            if isinstance(argument, str | bytes):
                _touched.append(os.fsdecode(argument))


# A hook stays until the interpreter ends, so it does nothing unless a test here listens.
sys.addaudithook(_hook)


@pytest.fixture
def touched() -> Iterator[list[str]]:
    global _touched  # noqa: PLW0603
    _touched = found = []
    yield found
    _touched = None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    sibling = tmp_path / "root-sibling"
    for folder in (root / "a", root / "applets" / "other", root / ".ssh", root / "runtime", sibling):
        folder.mkdir(parents=True)
    for secret in (
        tmp_path / "secret",
        sibling / "secret",
        root / ".env",
        root / ".ssh" / "id_rsa",
        root / "server.pem",
    ):
        secret.write_text(SECRET)
    (root / "applets" / "other" / "state.json").write_text(SECRET)
    (root / "a.txt").write_text("open")
    for name, target in {
        "link-up": "..",
        "link-file": "../secret",
        "link-absolute": str(tmp_path / "secret"),
        "link-chain": "link-file",
        "link-folder": "../root-sibling",
        "link-proc": "/proc/self",
        "link-magic": "/proc/self/root",
        "link-self": "link-self",
        "link-dangling": "../nowhere",
        "link-root": "/",
        "link-env": ".env",
        "link-private": ".jupyter-applets",
    }.items():
        (root / name).symlink_to(target)
    return root


def outside(root: Path) -> dict[str, bytes]:
    """All that must stay as it is."""
    above = root.parent
    files = [above / "secret", *(above / "root-sibling").rglob("*"), root / ".env", root / "server.pem"]
    files += [root / ".ssh" / "id_rsa", root / "applets" / "other" / "state.json"]
    return {str(file): file.read_bytes() for file in files} | dict.fromkeys(map(str, above.iterdir()), b"")


@pytest.mark.parametrize("way", ["openat2", "walk"])
@pytest.mark.parametrize("verb", VERBS)
def test_no_way_leads_out(root: Path, touched: list[str], monkeypatch: pytest.MonkeyPatch, verb: str, way: str) -> None:
    if way == "walk":
        monkeypatch.setattr(beneath, "_has_openat2", lambda: False)
    workspace = Workspace(root)
    AppletStore(workspace).list()
    strays = watch_descriptors(root, monkeypatch)
    before = outside(root)
    names = {"root": str(root), "above": str(root.parent), "upper": str(root).upper()}
    escapes = []
    for template in CORPUS:
        path = template
        for name, value in names.items():
            path = path.replace(f"{{{name}}}", value)
        touched.clear()
        try:
            result = VERBS[verb](workspace, path)
        except AppletError:
            result = None
        # Names are opened from a descriptor of the root, one by one: never by a path that starts elsewhere or goes up.
        went = [name for name in touched if ".." in name.split("/") or (name.startswith("/") and not _is_ours(name))]
        if went or strays or SECRET in str(result) or outside(root) != before:
            escapes.append((path[:80], went, strays[:], result))
            strays.clear()
    assert escapes == []
    assert len(CORPUS) >= 120
    workspace.close()


def watch_descriptors(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was opened outside the root, by where the descriptor really leads: `openat2` goes past the interpreter."""
    strays: list[str] = []

    def seen(opening: Callable[..., int]) -> Callable[..., int]:
        def wrapped(*args: Any, **kwargs: Any) -> int:
            descriptor = opening(*args, **kwargs)
            path = str(Path(f"/proc/self/fd/{descriptor}").readlink())
            if path != str(root) and not path.startswith(f"{root}/") and not _is_ours(path):
                strays.append(path)
            return descriptor

        return wrapped

    monkeypatch.setattr(beneath, "_openat2", seen(beneath._openat2))
    monkeypatch.setattr(os, "open", seen(os.open))
    return strays


def _is_ours(name: str) -> bool:
    """The package's own applets, and modules that Python imports meanwhile."""
    return name.startswith((sys.prefix, sys.base_prefix, str(Path(beneath.__file__).parents[1])))


@pytest.mark.parametrize("path", [*UP[:6], *NOT_TEXT, *WINDOWS, *OVERLONG[:5]])
def test_what_is_no_path_is_refused_before_any_system_call(root: Path, touched: list[str], path: str) -> None:
    workspace = Workspace(root)
    touched.clear()
    with pytest.raises(PathRefused):
        workspace.check(path, ACTOR)
    assert touched == []


@pytest.mark.parametrize("slug", [path for path in CORPUS if path not in LINKS])
def test_nothing_of_the_corpus_names_an_applet(root: Path, slug: str) -> None:
    with pytest.raises(InvalidSlug):
        AppletStore(Workspace(root)).load(slug)
