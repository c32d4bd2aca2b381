"""Applets as files of their own: the one HTML file that an export writes, any HTML file that is read, and modules."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from ..errors import AppletError, NotShown
from ..protocol.base import Json
from ..protocol.channel import COMMANDS_KEY, SNAPSHOT_KEY
from ..protocol.link import AppletFile, Content
from . import bundles

FORMAT = 1
_DATA_ID = "jupyter-applet"
_DATA = re.compile(rf'<script type="application/json" id="{_DATA_ID}">(.*?)</script>', re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_ORIGIN = re.compile(r"(https?|wss?)://(\*\.)?[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:\d{1,5})?/?", re.IGNORECASE)

# As js/src/frame/document.ts reads it: where the first thing stands that could run or show something.
_SPACE = r"(?:[\s\ufeff]|<!--(?:-?>|.*?--!?>)|<\?[^>]*>)*"
_PROLOG = re.compile(
    rf"{_SPACE}(?P<doctype><!doctype[^>]*>)?{_SPACE}(?P<html><html(?:[\s/][^>]*)?>)?{_SPACE}(?P<head><head(?:[\s/][^>]*)?>)?",
    re.IGNORECASE | re.DOTALL,
)
_SCRIPT = re.compile(
    r"""(<script(?=[\s>])(?:[^>"']|"[^"]*"|'[^']*')*>)(.*?)(?=</script|\Z)""", re.IGNORECASE | re.DOTALL
)
_SRC = re.compile(r"""(\ssrc\s*=\s*)("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
_MODULE = re.compile(r"""\stype\s*=\s*["']?module\b""", re.IGNORECASE)
_IMPORTED = re.compile(r"""(\b(?:from|import)\s*\(?\s*["'])(\.{0,2}/[^"']+)(?=["'])""")
_BODY = re.compile(rf"{_SPACE}<body[\s/>]", re.IGNORECASE | re.DOTALL)

# The applet's parts are in the data alone; the SDK is given them as a page would give them.
_START = """\
(function(__appletConfig){%s
})((function(d){return{key:d.key,js:d.content.js||"",css:d.content.css||"",theme:{dark:false,variables:{}},\
state:d.state,slug:d.content.slug||"",modules:d.content.modules||{},files:d.content.files||{},lexer:d.lexer,\
standalone:{snapshot:d.snapshot,commands:d.commands}}})(JSON.parse(document.getElementById("jupyter-applet").textContent)))"""


def module_text(source: str | os.PathLike[str]) -> str:
    """A module given as its source, or as the path of a file that holds it."""
    if isinstance(source, str) and (
        source.startswith("applet:/") or not re.fullmatch(r"[^\n;{}]+\.m?js", source.strip())
    ):
        return source
    return Path(source).read_text("utf-8")


def export(window: dict[str, Any], path: Path) -> Path:
    """Write what a host keeps of a window as one HTML file."""
    if window["content"] is None:
        raise NotShown("The content of this window is not known here: run the cell that makes it again.")
    content = msgspec.convert(window["content"], Content)
    lexer = bundles.text("lexer.js") if content.modules or content.files or "import" in content.js else ""
    # What a browser keeps of this applet, it keeps under this name: all files on a disk share one storage.
    key = hashlib.blake2s(msgspec.json.encode(content), digest_size=8).hexdigest()
    data = {"format": FORMAT, "key": key, **window, "lexer": lexer}
    _write(path, _document(content, data).encode())
    return path


def read_exported(path: Path) -> tuple[Content, dict[str, Json]]:
    """The applet in an exported file, with its state; any other HTML file is an applet with no state."""
    text = path.read_text("utf-8-sig")
    match = _DATA.search(text)
    if match is None:
        title = _TITLE.search(text)
        return Content(html=text, title=" ".join(title[1].split()) if title else path.stem), {}
    try:
        data = json.loads(match[1])
        if data["format"] != FORMAT:
            raise AppletError(f"{path} was exported in format {data['format']!r}: upgrade jupyter_applets to read it.")
        content = msgspec.convert(data["content"], Content)
        state = dict(data["state"])
    except (ValueError, KeyError, TypeError) as e:
        raise AppletError(
            f"{path} was exported by jupyter_applets, but changed since and cannot be read: {e}"
        ) from None
    if data.get("snapshot") is not None:
        state[SNAPSHOT_KEY] = data["snapshot"]
    if data.get("commands"):
        state[COMMANDS_KEY] = data["commands"]
    return msgspec.structs.replace(content, slug=""), state


def _document(content: Content, data: dict[str, Any]) -> str:
    head = "".join(
        [
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(content.permissions))}">',
            f'<script type="application/json" id="{_DATA_ID}">{_in_script(data)}</script>',
            f"<script>{_START % bundles.text('sdk.js').strip()}</script>",
        ]
    )
    html = _with_scripts(content.html, content.files)
    prolog = _PROLOG.match(html)
    end = prolog.end() if prolog else 0
    if prolog and (any(prolog.groups()) or _BODY.match(html, end)):
        return html[:end] + head + html[end:]
    title = escape(content.title or "Applet")
    return (
        '<!doctype html>\n<html>\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title>{head}</head>\n"
        f'<body><div id="appletView">{html}\n</div></body>\n</html>\n'
    )


def _with_scripts(html: str, files: dict[str, AppletFile]) -> str:
    """The HTML's scripts with the applet's own files in them, in their order. (js/src/frame/document.ts)"""

    def find(reference: str) -> str | None:
        path = re.sub(r"[?#].*$", "", re.sub(r"^(?:applet:|\.\.?)?/", "", reference))
        return path if path in files and files[path].text is not None else None

    def opened(tag: str, *, module: bool) -> str:
        def source(match: re.Match[str]) -> str:
            path = find(match[2].strip("\"' "))
            if path is None:
                return match[0]
            name = json.dumps(f"applet:/{path}")
            code = f"import {name}" if module else f"{files[path].text}\n//# sourceURL=applet/{path}"
            return f'{match[1]}"data:text/javascript;charset=utf-8,{quote(code, safe="")}"'

        return _SRC.sub(source, tag)

    def imported(match: re.Match[str]) -> str:
        path = find(match[2])
        return match[0] if path is None else f"{match[1]}applet:/{path}"

    def script(match: re.Match[str]) -> str:
        module = _MODULE.search(match[1]) is not None
        return opened(match[1], module=module) + (_IMPORTED.sub(imported, match[2]) if module else match[2])

    return _SCRIPT.sub(script, html)


def _in_script(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _policy(permissions: dict[str, Json]) -> str:
    """As in a page: nothing external but what the applet lists. (js/src/frame/policy.ts)"""
    listed = permissions.get("network")
    entries = listed if isinstance(listed, list) else [listed]
    origins = [e.rstrip("/").lower() for e in entries if isinstance(e, str) and _ORIGIN.fullmatch(e)]
    loads = " ".join(["data: blob:", *(o for o in origins if o.startswith("http"))])
    sockets = [re.sub("^http", "ws", o) for o in origins]
    connect = " ".join(dict.fromkeys(["data: blob:", *origins, *sockets]))
    return (
        f"default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' {loads}; "
        f"style-src 'unsafe-inline' {loads}; img-src {loads}; font-src {loads}; media-src {loads}; "
        f"worker-src data: blob:; connect-src {connect}; frame-src 'none'; form-action 'none'"
    )


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all. The path is the user's own, in the user's own kernel."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to export to.")
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
