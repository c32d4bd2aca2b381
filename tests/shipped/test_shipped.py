"""The shipped applets' folders: each is whole, and as saving it would write it."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

SHIPPED = Path(str(files("jupyter_applets"))) / "shipped"
FOLDERS = sorted(path for path in SHIPPED.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def read_json(path: Path) -> Any:
    """What the file holds, whose bytes must be those that saving the same would give."""
    text = path.read_bytes().decode()
    value = json.loads(text)
    assert text == json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return value


def test_calculator_is_shipped() -> None:
    assert "calculator" in [folder.name for folder in FOLDERS]


@each_folder
def test_folder_is_named_by_a_slug_and_holds_an_applet(folder: Path) -> None:
    assert SLUG.fullmatch(folder.name)
    names = {path.name for path in folder.iterdir()}
    assert names >= {"meta.json", "app.json", "content.html", "script.js", "style.css"}
    # What a use of the applet leaves belongs to its user, not to the package.
    assert "state.json" not in names


@each_folder
def test_meta_tells_people_and_agents_what_it_is_for(folder: Path) -> None:
    meta = read_json(folder / "meta.json")
    assert meta["name"]
    assert meta["description"]
    assert TIME.fullmatch(meta["created"])
    assert meta["created"] <= meta["updated"]
    usage = meta["agentUsage"]
    assert all(isinstance(usage[key], str) and usage[key] for key in ("purpose", "example"))
    assert usage["triggers"]
    assert all(isinstance(text, str) for text in meta["stateSchema"]["get"].values())
    assert "set" in meta["stateSchema"]


@each_folder
def test_app_json_declares_a_protocol_and_no_permission_by_oversight(folder: Path) -> None:
    app = read_json(folder / "app.json")
    assert isinstance(app["appProtocol"], bool)
    assert isinstance(app["fileAssociations"], list)
    assert isinstance(app["permissions"], dict)


@each_folder
@pytest.mark.parametrize("name", ["content.html", "script.js", "style.css"])
def test_text_is_utf_8_with_unix_lines_and_needs_no_network(folder: Path, name: str) -> None:
    text = (folder / name).read_bytes().decode()
    assert "\r" not in text
    assert text.endswith("\n")
    assert not re.search(r"(?:src|href|url\(|import|fetch\()\W*https?:", text)


@each_folder
def test_registered_name_is_the_slug(folder: Path) -> None:
    if read_json(folder / "app.json")["appProtocol"]:
        assert f"appId: '{folder.name}'" in (folder / "script.js").read_text("utf-8")
