"""Paths are decided before any system call: what stays inside is parsed, all else is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_applets.errors import PathRefused
from jupyter_applets.workspace.paths import parse

ROOT = "/srv/nb"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a.csv", ("a.csv",)),
        ("./data//a.csv", ("data", "a.csv")),
        ("data/", ("data",)),
        ("", ()),
        (".", ()),
        ("/srv/nb", ()),
        ("/srv/nb/data/a.csv", ("data", "a.csv")),
        ("100%.txt", ("100%.txt",)),
        ("a%20b.txt", ("a%20b.txt",)),
        ("Ünïcode/文件.txt", ("Ünïcode", "文件.txt")),
        ("...a", ("...a",)),
        ("console.log", ("console.log",)),
    ],
)
def test_path_inside_the_root_is_parsed(path: str, parts: tuple[str, ...]) -> None:
    assert parse(path, ROOT) == parts


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "/etc/passwd",
        "/srv",
        "/srv/nb-secret/x",
        "/srv/nbx",
        "//srv/nb/x",
        "..\\x",
        "a\\b",
        "C:/x",
        "c:x",
        "\\\\host\\share",
        "a\0b",
        "a\nb",
        "%2e%2e/x",
        "%2e%2e%2fx",
        "%252e%252e%252fx",
        "%25252525252e",
        "..%2fx",
        "x%00",
        "%5c..%5cx",
        "nul",
        "CON.txt",
        "com1",
        "lpt9.log",
        "a.",
        "a ",
        "file.txt:stream",
        "x" * 256,
        "a/" * 2100,
        "\udcff",
    ],
)
def test_path_that_leads_out_or_is_no_name_is_refused(path: str) -> None:
    with pytest.raises(PathRefused):
        parse(path, ROOT)


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        ".ENV",
        "a/.git/config",
        ".ssh/id_rsa",
        "keys/server.pem",
        "x.key",
        "id_ed25519.pub",
        "jpserver-1.json",
        "runtime/kernel-1.json",
        "jupyter_cookie_secret",
        "/srv/nb/.git",
    ],
)
def test_names_that_may_hold_secrets_are_refused_wherever_they_stand(path: str) -> None:
    with pytest.raises(PathRefused, match="secrets"):
        parse(path, ROOT)


def test_list_of_sensitive_names_can_be_another() -> None:
    assert parse(".env", ROOT, sensitive=()) == (".env",)


def test_root_of_the_whole_system_works() -> None:
    assert parse("/etc/hosts", "/") == ("etc", "hosts")
    assert parse("etc/hosts", "/") == ("etc", "hosts")


@given(st.text(alphabet="./\\%2eEfF0aAcC:~ \0\n", max_size=40))
def test_whatever_is_accepted_stays_inside(path: str) -> None:
    try:
        parts = parse(path, ROOT)
    except PathRefused:
        return
    assert all(name not in ("", ".", "..") and "/" not in name and "\0" not in name for name in parts)
