"""Applets as files: saved and loaded, exported to one HTML file and read back, modules from a path."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets import Applet, get_applet_state, list_applets
from jupyter_applets.errors import AppletError, AppletNotFound, InvalidSlug
from jupyter_applets.kernel import connection as module
from jupyter_applets.widget.files import module_text


def host() -> Any:
    return module.connection().local()._driver.host


# ---- saved


def test_saved_applet_is_loaded_with_its_state(tmp_path: Path) -> None:
    app = Applet("<p>", "go()", "p {}", "Notes", "sheet", {"files": "read"}, height=200)
    app.push(n=1)
    saved = app.save("notes", description="Mine")
    assert saved["paths"]["folder"] == str(tmp_path / "applets/notes")
    loaded = Applet.load("notes")
    assert (loaded.window_id, loaded.slug, loaded.html, loaded.js, loaded.css) == (
        "notes",
        "notes",
        "<p>",
        "go()",
        "p {}",
    )
    assert (loaded.title, loaded.permissions, loaded.height) == ("Notes", {"files": "read"}, 200)
    assert dict(loaded.state) == get_applet_state("notes")["state"] == {"n": 1}
    assert "notes" in [entry["slug"] for entry in list_applets()]


def test_loading_again_keeps_what_was_set_since() -> None:
    Applet("<p>", window_id="sheet").save("notes")
    Applet.load("notes").push(n=5)
    again = Applet.load("notes")
    assert get_applet_state("notes")["state"] == dict(again.state) == {"n": 5}


def test_what_cannot_be_saved_or_loaded_raises() -> None:
    app = Applet("<p>", window_id="sheet")
    with pytest.raises(InvalidSlug):
        app.save("No Slug")
    with pytest.raises(AppletNotFound, match="'nope'"):
        Applet.load("nope")


def test_applet_that_has_not_opted_in_stays_so_and_is_not_reloaded_for_it(tmp_path: Path) -> None:
    Applet("<p>", window_id="sheet").save("notes")
    declared = tmp_path / "applets/notes/app.json"
    declared.write_text(json.dumps({"appProtocol": False}))
    app = Applet.load("notes")
    get_applet_state("notes")
    window = host().windows.find("notes")
    assert window.content.app_protocol is False
    revision = window.revision
    module.connection().local()._thread.call_soon(
        module.connection().local()._driver.file_changed, "applets/notes/app.json", "modified"
    )
    list_applets()
    get_applet_state("notes")
    assert window.revision == revision == app._revision


# ---- modules


def test_module_is_given_as_source_or_as_a_path(tmp_path: Path) -> None:
    file = tmp_path / "d3.mjs"
    file.write_text("export const d3 = 1\n")
    app = Applet(modules={"a": "export const a = 1", "b": file, "c": str(file)}, window_id="sheet")
    assert app.modules == {"a": "export const a = 1", "b": "export const d3 = 1\n", "c": "export const d3 = 1\n"}


def test_path_that_is_not_there_raises() -> None:
    with pytest.raises(FileNotFoundError):
        module_text("nope.mjs")


@pytest.mark.parametrize(
    "source", ["export {}", "", "applet:/modules/a.mjs", 'import "./x.js";\nexport const y = 1.js']
)
def test_source_is_not_taken_for_a_path(source: str) -> None:
    assert module_text(source) == source


def test_saved_modules_come_back(tmp_path: Path) -> None:
    app = Applet("<p>", "import {a} from 'a'", modules={"a": "export const a = 1\n"}, window_id="sheet")
    app.save("notes")
    loaded = Applet.load("notes")
    [(name, place)] = loaded.modules.items()
    assert (name, place.startswith("applet:/")) == ("a", True)
    assert loaded.files[place.removeprefix("applet:/")] == {"text": "export const a = 1\n"}
    loaded.save("again")
    assert Applet.load("again").files == loaded.files


# ---- one HTML file

PARTS = {"html": "<p>é</p>", "js": "// </script><!--\nlet a = '</SCRIPT>'", "css": "p > b {}", "title": "A & <B>"}


def test_exported_file_is_read_back_whole(tmp_path: Path) -> None:
    app = Applet(**PARTS, window_id="sheet", permissions={"network": ["https://a.example"]}, modules={"m": "export {}"})  # type: ignore[arg-type]
    app.push(n=1, text="</script>")
    path = app.export("sheet.html")
    assert path == Path("sheet.html")
    again = Applet.from_file(path)
    assert {name: getattr(again, name) for name in PARTS} == PARTS
    assert (again.permissions, again.modules) == ({"network": ["https://a.example"]}, {"m": "export {}"})
    assert dict(again.state) == get_applet_state(again.window_id)["state"] == {"n": 1, "text": "</script>"}
    assert again.slug == ""


def test_exported_file_is_one_document_whose_scripts_end_where_they_should(tmp_path: Path) -> None:
    app = Applet(**PARTS, window_id="sheet")  # type: ignore[arg-type]
    text = app.export(tmp_path / "a.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "<title>A &amp; &lt;B&gt;</title>" in text
    data, sdk = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL | re.IGNORECASE)
    assert json.loads(data)["content"]["js"] == PARTS["js"]
    assert sdk.rstrip().endswith("textContent)))")
    assert "default-src &#x27;none&#x27;" in text
    assert "https://" not in re.search(r'content="(default-src[^"]*)"', text)[1]  # type: ignore[index]


def test_whole_document_stays_the_document(tmp_path: Path) -> None:
    html = "<!doctype html>\n<html lang=de><head><title>Mine</title></head><body><p>x</body></html>"
    text = Applet(html, window_id="sheet").export(tmp_path / "a.html").read_text()
    assert text.startswith('<!doctype html>\n<html lang=de><head><meta http-equiv="Content-Security-Policy"')
    assert text.endswith("<title>Mine</title></head><body><p>x</body></html>")


def test_commands_and_snapshot_travel_with_the_file(tmp_path: Path) -> None:
    kept = {"n": 1, "__snapshot": {"text": "a"}, "__commands": [{"command": "add", "params": {"x": 1}}]}
    app = Applet._of(Applet("<p>", window_id="first")._content(), kept, "sheet")
    assert dict(app.state) == {"n": 1}
    data = json.loads(re.search(r'id="jupyter-applet">(.*?)</script>', app.export(tmp_path / "a.html").read_text())[1])  # type: ignore[index]
    assert (data["state"], data["snapshot"], data["commands"]) == (
        {"n": 1},
        {"text": "a"},
        [{"command": "add", "params": {"x": 1}}],
    )
    again = Applet.from_file(tmp_path / "a.html", "again")
    get_applet_state("again")
    log = host().windows.find("again").log
    assert log.snapshot.state == {"text": "a"}
    assert [(entry.command, entry.params) for entry in log.entries] == [("add", {"x": 1})]
    assert dict(again.state) == {"n": 1}


@pytest.mark.parametrize(
    ("text", "title"), [("<title>\n Some\n page </title><p>x", "Some page"), ("<p>x", "page"), ("\ufeff<p>x", "page")]
)
def test_any_html_file_is_an_applet(tmp_path: Path, text: str, title: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(text, "utf-8")
    app = Applet.from_file(file)
    assert (app.html, app.title, dict(app.state)) == (text.lstrip("\ufeff"), title, {})


@pytest.mark.parametrize(
    "change", [('"format":1', '"format":99'), ('"format":1', '"format"'), ('"content":{', '"c":{')]
)
def test_exported_file_that_was_damaged_says_so(tmp_path: Path, change: tuple[str, str]) -> None:
    file = Applet("<p>", window_id="sheet").export(tmp_path / "a.html")
    text = file.read_text().replace('"format": 1', '"format":1').replace('"content": {', '"content":{')
    assert change[0] in text
    file.write_text(text.replace(*change))
    with pytest.raises(AppletError, match=r"a\.html"):
        Applet.from_file(file)


def test_file_that_is_not_there_raises_as_files_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Applet.from_file(tmp_path / "nope.html")
    with pytest.raises(FileNotFoundError):
        Applet("<p>", window_id="sheet").export(tmp_path / "no/folder.html")
    assert list(tmp_path.glob(".*.tmp")) == []


# ---- what people decided


def test_decisions_are_read_and_taken_back() -> None:
    app = Applet("<p>", window_id="sheet")
    assert app.decisions == {}
    host().decisions.permit(host().windows.find("sheet"), "files", "read")
    assert app.decisions == {"files": "read"}
    assert app.revoke("files") == {}
    assert app.revoke() == {}


# ---- streaming


async def test_streamed_html_becomes_the_content() -> None:
    app = Applet("<p>old", "go()", window_id="sheet")
    async with app.stream_html() as stream:
        await stream.write("<p>")
        window = host().windows.find("sheet")
        assert (window.content.html, window.content.streaming, window.content.js) == ("<p>", True, "go()")
        await stream.write("new")
        assert window.content.html == "<p>new"
    assert (app.html, app.js) == ("<p>new", "go()")
    get_applet_state("sheet")
    assert (window.content.html, window.content.streaming) == ("<p>new", False)


async def test_stream_that_fails_leaves_what_was_written() -> None:
    app = Applet("<p>old", window_id="sheet")
    stream = app.stream_html()

    async def fail() -> None:
        async with stream:
            await stream.write("<p>half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert app.html == "<p>half"
    with pytest.raises(RuntimeError, match="async with"):
        await stream.write("late")


async def test_only_text_is_written() -> None:
    async with Applet(window_id="sheet").stream_html() as stream:
        with pytest.raises(TypeError, match="bytes"):
            await stream.write(b"<p>")  # type: ignore[arg-type]
