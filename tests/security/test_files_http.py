"""Ways out and what is out of reach, as a client puts them on the wire: refused in every verb, nothing is touched."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest

from ..running_server import Ask, OpenPage
from ..server.test_files import BYTES, FILE, LIST, refused

SECRET = "the secret"

UP = ["..", "../", "../secret", "../../etc/passwd", "a/../../secret", "./../secret", "../" * 30 + "etc/passwd"]
ELSEWHERE = ["/etc/passwd", "/", "/proc/self/environ", "/proc/self/root/etc/passwd", "//etc/passwd", "/dev/zero"]
WINDOWS = ["..\\secret", "C:\\x", "C:/x", "\\\\host\\share", "con", "NUL.txt", "a.", "a ", "a.txt::$DATA", "a\\b"]
NOT_TEXT = ["a\0", "a.txt\0.png", "../secret\0", "\0", "a\nb", "a\rb", "a\x1f", "\x7f", "a\tb"]
LONG = ["x" * 256, "x/" * 3_000, "../" * 1_500, "a/" * 101 + "b"]
SENSITIVE = [
    ".env",
    ".env.local",
    ".ENV",
    "sub/.env",
    ".git/config",
    ".Git/config",
    ".g\u200cit/config",
    ".ssh/id_rsa",
    "id_ed25519",
    "server.pem",
    "private.key",
    ".netrc",
    "jpserver-1.json",
    "jupyter_cookie_secret",
    "kernel-1.json",
    ".jupyter-applets/audit.jsonl",
    ".jupyter-applets",
    ".Jupyter-Applets/backups",
]
HERE = ["out", "out/secret", "fifo", "socket", "link-to-secret", "link-to-env", "up/secret", "loop"]
"""What stands in the root already: links out of it, and what is no plain file."""

WAYS = [*UP, *ELSEWHERE, *WINDOWS, *NOT_TEXT, *LONG, *SENSITIVE, *HERE]
ENCODED = [
    *(quote(way, safe="") for way in WAYS),
    # Encoded twice, so that what is decoded once still hides something.
    *(quote(quote(way, safe=""), safe="") for way in ("../secret", "..", "/etc/passwd", "a\0", "..\\secret")),
    "%252e%252e%252fsecret",
    "%25252e%25252e%25252fsecret",
    "..%c0%af..%c0%afsecret",
    "%c0%ae%c0%ae/secret",
    "%e0%80%ae%e0%80%ae/secret",
    "%ff",
    "%ed%b3%bf",
    "%EF%BC%8E%EF%BC%8E/secret",
]


@pytest.fixture
def root(jp_root_dir: Path) -> Iterator[Path]:
    """A root with traps in it, and a secret beside it."""
    (jp_root_dir.parent / "secret").write_text(SECRET)
    for path in (".env", "sub/.env", ".git/config", "server.pem"):
        (jp_root_dir / path).parent.mkdir(exist_ok=True)
        (jp_root_dir / path).write_text(SECRET)
    for name, target in (
        ("out", ".."),
        ("up", "sub/../.."),
        ("link-to-secret", "../secret"),
        ("link-to-env", ".env"),
        ("loop", "loop"),
    ):
        (jp_root_dir / name).symlink_to(target)
    os.mkfifo(jp_root_dir / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(jp_root_dir)  # the path of a socket is short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        yield jp_root_dir


def everything(root: Path) -> dict[str, Any]:
    """What there is in and beside the root, less what the server itself keeps of it."""
    found = {}
    for path in sorted(root.parent.rglob("*")):
        if ".jupyter-applets" not in path.parts:
            plain = path.is_file() and not path.is_symlink()
            found[str(path)] = path.read_bytes() if plain else path.lstat().st_mode
    return found


@pytest.mark.parametrize(
    ("route", "verb", "query", "body", "headers"),
    [
        (FILE, "GET", "", None, {}),
        (FILE, "GET", "&raw=1", None, {"Range": "bytes=0-3"}),
        (FILE, "POST", "", json.dumps({"content": "x"}), {}),
        (FILE, "POST", "", b"x", BYTES),
        (LIST, "GET", "", None, {}),
    ],
    ids=["read", "read raw", "write", "write raw", "list"],
)
async def test_no_way_leads_anywhere(
    root: Path, ask: Ask, route: str, verb: str, query: str, body: Any, headers: dict[str, str]
) -> None:
    before = everything(root)
    for way in ENCODED:
        response = await ask(f"{route}?path={way}{query}", verb, body, headers)
        assert response.code in (400, 403, 404), f"{way}: {response.code} {response.body!r}"
        assert SECRET.encode() not in response.body
        assert json.loads(response.body)["code"] in ("PATH_REFUSED", "FILE_MISSING", "INVALID_ARGUMENTS"), way
    assert everything(root) == before


@pytest.mark.parametrize("kind", ["readFile", "writeFile", "listFiles", "subscribe"])
async def test_no_way_leads_anywhere_over_the_socket(root: Path, open_page: OpenPage, kind: str) -> None:
    before = everything(root)
    page = await open_page()
    once = [unquote_to_bytes(way).decode("utf-8", "surrogatepass") for way in ENCODED if "%ff" not in way.lower()
            and "%c0" not in way and "%e0" not in way]  # fmt: skip
    for way in [*once, "\udcff", "\ud800"]:
        message = {"type": kind, "path": way, "id": "1", **({"content": "x"} if kind == "writeFile" else {})}
        await page.send(message)
        answer = await page.next()
        if kind == "subscribe" and (answer["type"] == "result" or way in HERE):
            # Who may not read a link may still name it; what it leads to is not watched, as the next test shows.
            assert way in HERE
            continue
        assert answer["type"] == "error", (way, answer)
        assert answer["code"] in ("PATH_REFUSED", "FILE_MISSING", "INVALID_MESSAGE"), (way, answer)
        assert SECRET not in json.dumps(answer)
    assert everything(root) == before


async def test_nobody_is_told_what_happens_behind_a_link(root: Path, open_page: OpenPage) -> None:
    page = await open_page()
    for path in (*HERE, "a.txt"):
        await page.send({"type": "subscribe", "path": path, "id": "1"})
        await page.next()
    (root.parent / "secret").write_text("changed")
    (root / ".env").write_text("changed")
    (root.parent / "another").write_text("new")
    (root / "a.txt").write_text("x")
    assert await page.next() == {"type": "fileChanged", "path": "a.txt", "event": "created"}
    (root / "a.txt").unlink()
    assert await page.next() == {"type": "fileChanged", "path": "a.txt", "event": "deleted"}


@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE"])
async def test_no_slug_leads_anywhere(root: Path, ask: Ask, verb: str) -> None:
    before = everything(root)
    body = json.dumps({"html": "<p>"}) if verb == "PUT" else None
    # A name that a client could have meant for an applet is one.
    for way in [way for way in ENCODED if way not in (*HERE, "con")]:
        response = await ask(f"api/applets/{way.replace('/', '%2F')}", verb, body)
        assert response.code in (400, 403, 404), f"{way}: {response.code} {response.body!r}"
    assert everything(root) == before


# ── who asks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def cookies(base: str, token: str) -> dict[str, str]:
    """Log in as a browser does: from then on there are cookies, and no token."""
    pairs: list[str] = []
    for page in (f"api/status?token={token}", "login"):
        response = await AsyncHTTPClient().fetch(base + page, raise_error=False, follow_redirects=False)
        pairs += [cookie.split(";")[0] for cookie in response.headers.get_list("Set-Cookie")]
    return {"Cookie": "; ".join(pairs)}


async def status(url: str, verb: str, headers: dict[str, str], body: Any = None) -> int:
    request = HTTPRequest(url, verb, headers, body, allow_nonstandard_methods=True, follow_redirects=False)
    return (await AsyncHTTPClient().fetch(request, raise_error=False)).code


async def test_browser_needs_its_xsrf_token(base: str, jp_serverapp: Any, root: Path) -> None:
    (root / "a.txt").write_text("before")
    headers = await cookies(base, jp_serverapp.identity_provider.token)
    file, applet = f"{base}applets/{FILE}?path=a.txt", f"{base}applets/api/applets/sheet"
    xsrf = next(pair.partition("=")[2] for pair in headers["Cookie"].split("; ") if pair.startswith("_xsrf="))
    body = json.dumps({"content": "after", "html": ""})
    for verb, url in (("POST", file), ("PUT", applet), ("DELETE", applet)):
        assert await status(url, verb, headers, body if verb != "DELETE" else None) == 403
        assert await status(url, verb, {**headers, "X-XSRFToken": "wrong"}, None if verb == "DELETE" else body) == 403
    assert (root / "a.txt").read_text() == "before"
    assert await status(file, "POST", {**headers, "X-XSRFToken": xsrf}, body) == 200
    # What another site includes in its page comes with the cookies too, but from there, or from nowhere.
    assert await status(file, "GET", headers) == 403
    assert await status(file, "GET", {**headers, "Referer": "https://evil.example/"}) == 403
    assert await status(file, "GET", {**headers, "Referer": base}) == 200
    assert await status(file, "GET", {**headers, "X-XSRFToken": xsrf}) == 200


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:1"])
async def test_other_origins_are_refused(base: str, jp_serverapp: Any, root: Path, ask: Ask, origin: str) -> None:
    (root / "a.txt").write_text("before")
    headers = {**await cookies(base, jp_serverapp.identity_provider.token), "Origin": origin}
    for route in (f"{FILE}?path=a.txt", LIST, "api/applet/state", "api/applets", "api/health", "static/desk.js"):
        assert await status(f"{base}applets/{route}", "GET", headers) in (403, 404), route
        assert await status(f"{base}applets/{route}", "POST", headers, "{}") in (403, 404, 405), route
    assert (root / "a.txt").read_text() == "before"


async def test_nobody_without_credentials_learns_what_exists(base: str, root: Path) -> None:
    url = f"{base}applets/{FILE}?path="
    assert await status(url + "sub", "GET", {}) == await status(url + "none", "GET", {}) == 403
    assert await status(url + "../secret", "GET", {}) == 403


async def test_refusals_are_written_down(root: Path, ask: Ask) -> None:
    refused(await ask(FILE, path="../secret"), 403, "PATH_REFUSED")
    refused(await ask(FILE, "POST", {"content": "x"}, path=".env"), 403, "PATH_REFUSED")
    refused(await ask(LIST, path="out"), 403, "PATH_REFUSED")
    lines = [json.loads(line) for line in (root / ".jupyter-applets" / "audit.jsonl").read_text().splitlines()]
    assert [(line["verb"], line["path"], line["ok"], line["code"]) for line in lines] == [
        ("read", "../secret", False, "PATH_REFUSED"),
        ("write", ".env", False, "PATH_REFUSED"),
        ("list", "out", False, "PATH_REFUSED"),
    ]
