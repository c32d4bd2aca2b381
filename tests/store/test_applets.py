"""Saved applets: what is saved is loaded, with the same bytes each time; a broken one is said to be, alone."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_applets.errors import (
    AppletNotFound,
    BrokenApplet,
    InvalidSlug,
    PathRefused,
    StoreError,
    VersionConflict,
)
from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace.files import Workspace

from .folders import listed, picture

EARLY = datetime(2026, 1, 1, tzinfo=timezone.utc)
LATE = datetime(2026, 2, 1, tzinfo=timezone.utc)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


# ── save and load ────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(html=TEXT, js=TEXT, css=TEXT, state=st.dictionaries(st.text(), JSON, max_size=4), name=TEXT)
def test_what_is_saved_is_loaded_and_saving_again_changes_nothing(
    store: AppletStore, root: Path, html: str, js: str, css: str, state: dict[str, Any], name: str
) -> None:
    given = {"html": html, "js": js, "css": css, "state": state, "name": name, "description": "x"}
    try:
        saved = store.save("law", **given)
    except StoreError:
        assert not _is_whole(state)
        return
    again = AppletStore(Workspace(root)).load("law")
    assert again == saved == store.load("law")
    plain = [text.replace("\r\n", "\n") for text in (html, js, css)]
    if not any("\r\r\n" in text for text in (html, js, css)):
        assert [again.html, again.js, again.css] == plain
    assert again.state == state
    assert again.meta.name == name
    before = picture(root)
    assert store.save("law", **given) == saved
    assert picture(root) == before


def _is_whole(state: object) -> bool:
    try:
        json.dumps(state, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def test_bytes_are_the_same_each_time(store: AppletStore, root: Path) -> None:
    store.save(
        "sheet",
        html="<p>\r\nx",
        js="1\n",
        state={"b": [1, {"z": 1, "a": "é"}], "a": 1},
        name="Sheet",
        description="d",
        permissions={"files": "read"},
        now=EARLY,
    )
    folder = root / "applets" / "sheet"
    assert (folder / "content.html").read_bytes() == b"<p>\nx"
    assert (folder / "script.js").read_bytes() == b"1\n"
    assert not (folder / "style.css").exists()
    assert (folder / "state.json").read_text().splitlines()[:3] == ["{", '  "a": 1,', '  "b": [']
    assert (folder / "meta.json").read_text() == (
        '{\n  "name": "Sheet",\n  "description": "d",\n'
        '  "created": "2026-01-01T00:00:00.000Z",\n  "updated": "2026-01-01T00:00:00.000Z"\n}\n'
    )
    assert (folder / "app.json").read_text() == (
        '{\n  "appProtocol": true,\n  "permissions": {\n    "files": "read"\n  }\n}\n'
    )
    index = json.loads((root / "applets" / "_index.json").read_text())
    [entry] = index["applets"]
    assert entry == {"slug": "sheet", "name": "Sheet", "description": "d", "updated": "2026-01-01T00:00:00.000Z"}
    assert str(root) not in (root / "applets" / "_index.json").read_text()


def test_updated_moves_only_when_another_byte_did(store: AppletStore, root: Path) -> None:
    store.save("a", html="1", state={"x": 1}, now=EARLY)
    assert store.save("a", html="1", state={"x": 1}, now=LATE).meta.updated.startswith("2026-01")
    assert store.save("a", html="1", now=LATE).meta.updated.startswith("2026-01")
    for change in ({"html": "2"}, {"html": "2", "state": {"x": True}}, {"html": "2", "name": "B"}):
        store.save("b", html="1", state={"x": 1}, name="A", now=EARLY)
        saved = store.save("b", **change, now=LATE)  # type: ignore[arg-type]
        assert saved.meta.updated.startswith("2026-02")
        assert saved.meta.created.startswith("2026-01")
        store.delete("b")


def test_what_is_not_given_stays(store: AppletStore, root: Path) -> None:
    folder = root / "applets" / "mine"
    folder.mkdir(parents=True)
    (folder / "content.html").write_bytes(b"<p>\r\nold")
    (folder / "meta.json").write_text(
        '{"zeta": 1, "name":"Mine","created":"c","updated":"u","params":{"b":1,"a":2},"alpha":0}'
    )
    app = '{"x-own": {"b": 1, "a": 2},   "fileAssociations": [1], "appProtocol": false}'
    (folder / "app.json").write_text(app)
    (folder / "notes.txt").write_text("notes")
    before = picture(root)
    saved = store.save("mine", html="<p>\nold")
    assert {path: seen for path, seen in picture(root).items() if "_index" not in path} == before
    assert saved.meta.extra == {"alpha": 0, "zeta": 1}
    assert saved.app.extra == {"x-own": {"b": 1, "a": 2}}
    assert saved.files == {"notes.txt": b"notes"}
    store.save("mine", html="new", description="new", permissions={}, app_protocol=True, now=LATE)
    assert (folder / "app.json").read_text() == (
        '{\n  "appProtocol": true,\n  "fileAssociations": [\n    1\n  ],\n  "permissions": {},\n'
        '  "x-own": {\n    "b": 1,\n    "a": 2\n  }\n}\n'
    )
    keys = list(json.loads((folder / "meta.json").read_text()))
    assert keys == ["name", "description", "created", "updated", "params", "alpha", "zeta"]


def test_version_before_of_the_authors_files_is_kept(store: AppletStore, root: Path) -> None:
    store.save("a", html="1", js="x", state={"n": 1})
    (root / "applets" / "a" / "script.js").write_text("edited by hand")
    store.save("a", html="1", js="y", state={"n": 2})
    kept = root / ".jupyter-applets" / "backups" / "applets" / "a"
    assert [file.read_text() for file in (kept / "script.js").iterdir()] == ["edited by hand"]
    assert sorted(folder.name for folder in kept.iterdir()) == ["script.js", "state.json"]
    store.save("a", html="1", js="y", state={"n": 3})
    assert len([*(kept / "state.json").iterdir()]) == 1


def test_modules_and_files_become_files(store: AppletStore, root: Path) -> None:
    modules = {"d3": "export default 3", "@scope/pkg": "1", "D3": "2"}
    saved = store.save("m", html="", modules=modules, files={"img/a.png": b"\x89"})
    assert saved.app.modules["d3"] == "modules/d3.mjs"
    assert {saved.files[saved.app.modules[name]].decode() for name in modules} == set(modules.values())
    assert saved.files["img/a.png"] == b"\x89"
    before = picture(root)
    store.save("m", html="", modules={name: f"applet:/{path}" for name, path in saved.app.modules.items()})
    store.save("m", html="", modules=modules)
    assert picture(root) == before
    fewer = store.save("m", html="", modules={"d3": "export default 4"})
    assert fewer.app.modules == {"d3": "modules/d3.mjs"}
    assert set(fewer.files) == {"modules/d3.mjs", "img/a.png"}
    assert store.save("m", html="x").app.modules == {"d3": "modules/d3.mjs"}


@pytest.mark.parametrize("path", ["../x", "/etc/x", ".hidden", "a/.env", "content.html", "", "a\\b", "x.pem"])
def test_file_that_would_stand_elsewhere_is_refused(store: AppletStore, root: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        store.save("a", html="", files={path: b""})
    assert not (root / "applets").exists()


def test_module_names_never_lead_out(store: AppletStore, root: Path) -> None:
    saved = store.save("a", html="", modules={"../../../x": "1", "": "2", "/": "3", "x" * 5_000: "4", "con": "5"})
    assert all(path.startswith("modules/") for path in saved.app.modules.values())
    assert len(saved.files) == 5


@pytest.mark.parametrize("bad", [{"x": float("nan")}, {"x": object()}, {"x": "\ud800"}])
def test_state_that_json_cannot_hold_is_refused_and_changes_nothing(
    store: AppletStore, root: Path, bad: dict[str, Any]
) -> None:
    store.save("a", html="1", state={"x": 1})
    before = picture(root)
    with pytest.raises(StoreError, match=r"state\.json"):
        store.save("a", html="2", state=bad)
    assert picture(root) == before
    with pytest.raises(StoreError):
        store.save("b", html="\ud800")
    assert not (root / "applets" / "b").exists()


def test_state_alone_is_saved(store: AppletStore) -> None:
    store.save("a", html="1", js="2", state={"x": 1}, now=EARLY)
    saved = store.save_state("a", {"x": 2}, now=LATE)
    assert (saved.html, saved.js, saved.state) == ("1", "2", {"x": 2})
    assert saved.meta.updated.startswith("2026-02")
    with pytest.raises(AppletNotFound):
        store.save_state("none", {})


def test_only_the_version_that_was_meant_is_replaced(store: AppletStore, root: Path) -> None:
    saved = store.save("a", html="1")
    assert store.version("a") == saved.version == store.load("a").version
    newer = store.save("a", html="2", if_match=saved.version)
    (root / "applets" / "a" / "script.js").write_text("by hand")
    for attempt in (
        lambda: store.save("a", html="3", if_match=newer.version),
        lambda: store.delete("a", newer.version),
    ):
        with pytest.raises(VersionConflict):
            attempt()
    with pytest.raises(VersionConflict):
        store.save("none", html="", if_match="*")
    assert store.version("none") is None
    assert store.load("a").html == "2"


# ── slugs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("slug", ["a", "9", "my-sheet", "a--b", "x" * 64])
def test_slugs_that_are_right(store: AppletStore, slug: str) -> None:
    assert store.save(slug, html="").slug == slug


@pytest.mark.parametrize(
    ("slug", "better"),
    [
        ("My Sheet!", "my-sheet"),
        ("Überschrift", "uberschrift"),
        ("-a-", "a"),
        ("a_b.c", "a-b-c"),
        ("../x", "x"),
        ("con", "applet-con"),
        ("jpserver-1", "applet-jpserver-1"),
        ("x" * 65, "x" * 64),
        ("", None),
        ("文件", None),
        ("\ud800", None),
        ("a\n", "a"),
    ],
)
def test_slug_that_is_wrong_says_the_rule_and_a_better_one(store: AppletStore, slug: str, better: str | None) -> None:
    for verb in (store.load, store.delete, store.version, store.paths, lambda slug: store.save(slug, html="")):
        with pytest.raises(InvalidSlug, match="lowercase letters") as raised:
            verb(slug)
        assert raised.value.names == ([better] if better else [])


def test_applet_that_is_not_there_names_those_that_are(store: AppletStore) -> None:
    store.save("sheet", html="")
    for verb in (store.load, store.delete, store.paths):
        with pytest.raises(AppletNotFound) as raised:
            verb("none")
        assert raised.value.names == ["clock", "sheet"]


# ── what comes with the package ──────────────────────────────────────────────────────────────────────────────────────


def test_own_folder_comes_before_the_packages(store: AppletStore, root: Path, shipped: Path) -> None:
    before = (shipped / "clock" / "content.html").read_bytes()
    assert store.load("clock").shipped
    saved = store.save("clock", html="mine", if_match=store.version("clock"))
    assert not saved.shipped
    assert (saved.meta.name, saved.files) == ("Clock", {"hands.svg": b"<svg/>"})
    assert saved.app.file_associations == [{"ext": "clk"}]
    assert [entry["shipped"] for entry in store.list()] == [False]
    assert (shipped / "clock" / "content.html").read_bytes() == before
    store.delete("clock")
    assert store.load("clock").shipped
    with pytest.raises(StoreError, match="comes with the package"):
        store.delete("clock")


def test_state_of_a_packages_applet_makes_it_ones_own(store: AppletStore) -> None:
    saved = store.save_state("clock", {"h": 1})
    assert (saved.html, saved.state, saved.shipped) == ("<p>clock", {"h": 1}, False)


# ── delete ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_deleted_applet_can_be_taken_back(store: AppletStore, root: Path) -> None:
    saved = store.save("a", html="1", files={"img/x.png": b"1"})
    kept = store.delete("a")
    assert [entry["slug"] for entry in store.list()] == ["clock"]
    assert kept.startswith(".jupyter-applets/deleted/a-")
    (root / kept).rename(root / "applets" / "a")
    assert store.load("a") == saved


def test_newest_deleted_applets_are_kept(store: AppletStore, root: Path) -> None:
    for number in range(23):
        store.save(f"a{number}", html="", files={"sub/x": b""})
        store.delete(f"a{number}")
    kept = {path.name.split("-")[0] for path in (root / ".jupyter-applets" / "deleted").iterdir()}
    assert kept == {f"a{number}" for number in range(3, 23)}


# ── links ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_links_lead_to_no_applet(store: AppletStore, root: Path, shipped: Path) -> None:
    store.save("whole", html="1")
    (root / "applets" / "out").symlink_to(shipped / "clock")
    (root / "applets" / "same").symlink_to("whole")
    secret = root.parent / "secret"
    secret.write_text("secret")
    (root / "applets" / "whole" / "a.txt").symlink_to(secret)
    assert store.load("whole").files == {}
    for slug in ("out", "same"):
        assert "link" in listed(store, slug)["broken"]
        with pytest.raises(BrokenApplet, match="link"):
            store.load(slug)
        with pytest.raises((BrokenApplet, PathRefused)):
            store.save(slug, html="overwritten")
    assert (shipped / "clock" / "content.html").read_text() == "<p>clock"


def test_folder_of_applets_that_leads_out_is_refused(store: AppletStore, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "applets").symlink_to("../elsewhere")
    with pytest.raises(PathRefused):
        store.save("a", html="")
    with pytest.raises(PathRefused):
        store.list()
    assert list((tmp_path / "elsewhere").iterdir()) == []
