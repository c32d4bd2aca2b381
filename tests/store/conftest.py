"""A root, a store in it, and an applet that comes with the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_applets.store.applets import AppletStore
from jupyter_applets.workspace.files import Workspace


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    (folder / "clock").mkdir(parents=True)
    (folder / "clock" / "content.html").write_text("<p>clock")
    (folder / "clock" / "hands.svg").write_text("<svg/>")
    (folder / "clock" / "meta.json").write_text('{"name": "Clock", "created": "2020", "updated": "2020"}')
    (folder / "clock" / "app.json").write_text('{"appProtocol": true, "fileAssociations": [{"ext": "clk"}]}')
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    workspace = Workspace(root)
    yield workspace
    workspace.close()


@pytest.fixture
def store(workspace: Workspace, shipped: Path) -> AppletStore:
    return AppletStore(workspace, shipped)
