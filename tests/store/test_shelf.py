"""The list of applets: what there is and where, the broken with their reasons, and the index that mirrors it."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path

import pytest

from jupyter_applets.errors import BrokenApplet
from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace.files import Workspace

from .folders import listed, picture

EARLY = datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_list_tells_what_there_is_and_where(store: AppletStore, root: Path, shipped: Path) -> None:
    store.save("sheet", html="1", css="c", name="Sheet", description="d", now=EARLY)
    clock, sheet = store.list()
    folder = root / "applets" / "sheet"
    assert sheet == {
        "slug": "sheet",
        "name": "Sheet",
        "description": "d",
        "updated": "2026-01-01T00:00:00.000Z",
        "shipped": False,
        "paths": {
            "folder": str(folder),
            "html": str(folder / "content.html"),
            "css": str(folder / "style.css"),
            "meta": str(folder / "meta.json"),
            "app": str(folder / "app.json"),
        },
    }
    assert store.paths("sheet") == sheet["paths"]
    assert (clock["shipped"], clock["fileAssociations"]) == (True, [{"ext": "clk"}])
    assert clock["paths"]["folder"] == str(shipped / "clock")


BROKEN = {
    "half": ({"meta.json": "{}"}, "neither content.html nor script.js"),
    "empty": ({}, "neither"),
    "no-meta": ({"content.html": "x"}, "meta.json is missing"),
    "zero": ({"content.html": "x", "meta.json": ""}, "meta.json is empty"),
    "cut": ({"content.html": "x", "meta.json": '{"name": "x'}, "not valid JSON"),
    "twice": ({"content.html": "x", "meta.json": '{"name": "a", "name": "b"}'}, "'name' twice"),
    "type": ({"content.html": "x", "meta.json": '{"name": 5}'}, "name is of the wrong type"),
    "array": ({"content.html": "x", "meta.json": "[]"}, "not a list"),
    "nan": ({"content.html": "x", "meta.json": "{}", "state.json": '{"x": NaN}'}, "state.json is not valid JSON"),
    "deep": ({"content.html": "x", "meta.json": "{}", "state.json": '{"x":' + "[" * 100_000}, "state.json"),
    "app": ({"content.html": "x", "meta.json": "{}", "app.json": '{"modules": {"a": 1}}'}, "app.json: modules"),
    "bytes": ({"content.html": b"\xff", "meta.json": "{}"}, "content.html is not UTF-8"),
    "surrogate": ({"content.html": "x", "meta.json": '{"name": "\\ud800"}'}, "not valid JSON"),
    "large": ({"content.html": "x", "meta.json": "{}", "data.bin": b"x" * (8 * 2**20 + 1)}, "8 MiB"),
    "many": ({"content.html": "x", "meta.json": "{}", **{f"d/{n}": "" for n in range(501)}}, "500 files"),
    "folders": ({"content.html/x": "x", "meta.json": "{}"}, "neither"),
    "Bad Name": ({"content.html": "x", "meta.json": "{}"}, "'bad-name'"),
}


@pytest.mark.parametrize("slug", BROKEN)
def test_broken_applet_is_listed_with_the_reason_and_the_others_load(store: AppletStore, root: Path, slug: str) -> None:
    files, why = BROKEN[slug]
    folder = root / "applets" / slug
    folder.mkdir(parents=True)
    for path, content in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    (root / "applets" / "not an applet").mkdir()
    store.save("whole", html="x")
    for _ in range(2):
        entry = listed(store, slug)
        assert why in entry["broken"]
        assert entry["paths"]["folder"] == str(folder)
    assert [entry["slug"] for entry in store.list() if "broken" not in entry] == ["clock", "whole"]
    assert len(store.list()) == 3
    assert store.load("whole").html == "x"
    if slug != "Bad Name":
        with pytest.raises(BrokenApplet, match=slug):
            store.load(slug)
    if slug not in ("large", "many", "folders", "Bad Name"):
        assert store.save(slug, html="healed").html == store.load(slug).html == "healed"
        assert "broken" not in listed(store, slug)
        store.delete(slug)


def test_name_of_bytes_that_are_no_text_does_not_stop_the_list(store: AppletStore, root: Path) -> None:
    store.save("whole", html="")
    folder = os.fsencode(root / "applets") + b"/\xff\xfe"
    os.mkdir(folder)  # noqa: PTH102
    Path(os.fsdecode(folder + b"/content.html")).write_text("x")
    entries = json.loads(json.dumps(store.list()).encode())
    assert [entry["slug"] for entry in entries if "broken" not in entry] == ["clock", "whole"]


def test_index_is_written_when_it_is_wrong_and_only_then(store: AppletStore, root: Path) -> None:
    store.save("a", html="1")
    index = root / "applets" / "_index.json"
    right = index.read_bytes()
    before = picture(root)
    store.list()
    assert picture(root) == before
    for wrong in (b"", b"{}", right + b" "):
        index.write_bytes(wrong)
        store.list()
        assert index.read_bytes() == right
    index.unlink()
    AppletStore(Workspace(root)).list()
    assert index.read_bytes() == right
    store.delete("a")
    assert json.loads(index.read_bytes()) == {"applets": []}


def test_empty_root_is_left_empty_by_listing(store: AppletStore, root: Path) -> None:
    assert [entry["slug"] for entry in store.list()] == ["clock"]
    assert list(root.iterdir()) == []


def test_edit_by_hand_shows_in_the_next_list(store: AppletStore, root: Path) -> None:
    store.save("a", html="1", name="A")
    store.list()
    meta = root / "applets" / "a" / "meta.json"
    meta.write_text(meta.read_text().replace('"A"', '"B"'))
    assert listed(store, "a")["name"] == "B"
    meta.unlink()
    assert "broken" in listed(store, "a")
