"""The extension's settings, and its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from jupyter_applets.workspace.audit import Actor

from ..running_server import Ask, OpenPage, reply
from .test_applets import SHEET, one
from .test_files import BYTES, FILE, LIST, refused, value


def configured(**settings: Any) -> Config:
    return Config({"ServerApp": {"jpserver_extensions": {"jupyter_applets": True}}, "JupyterApplets": settings})


class TestFolder:
    @pytest.fixture
    def jp_server_config(self) -> Config:
        return configured(applets_folder="my/tools")

    async def test_applets_are_saved_where_it_says(self, ask: Ask, make_link: Any, jp_root_dir: Path) -> None:
        assert (await ask(one("sheet"), "PUT", SHEET)).code == 201
        assert (jp_root_dir / "my" / "tools" / "sheet" / "content.html").is_file()
        assert (jp_root_dir / "my" / "tools" / "_index.json").is_file()
        assert not (jp_root_dir / "applets").exists()
        listed = await reply(make_link().call("list_applets", {}))
        assert "sheet" in [entry["slug"] for entry in listed]


class TestNames:
    @pytest.fixture
    def jp_server_config(self) -> Config:
        return configured(sensitive_names=["private*"])

    async def test_names_are_refused_as_it_says(self, ask: Ask, jp_root_dir: Path) -> None:
        (jp_root_dir / "private-notes").write_text("x")
        (jp_root_dir / ".env").write_text("y")
        refused(await ask(FILE, path="private-notes"), 403, "PATH_REFUSED")
        refused(await ask(FILE, "POST", {"content": "x"}, path="a/Private/b"), 403, "PATH_REFUSED")
        assert value(await ask(FILE, path=".env"))["content"] == "y"
        assert [entry["name"] for entry in value(await ask(LIST))["files"]] == [".env"]


class TestSize:
    @pytest.fixture
    def jp_server_config(self) -> Config:
        return configured(max_file_bytes=1_000)

    async def test_larger_files_are_refused_in_every_verb(
        self, ask: Ask, open_page: OpenPage, jp_root_dir: Path
    ) -> None:
        (jp_root_dir / "a.txt").write_bytes(b"x" * 1_001)
        for raw in (0, 1):
            assert "1,001" in refused(await ask(FILE, path="a.txt", raw=raw), 413, "FILE_TOO_LARGE")
        refused(await ask(FILE, "POST", b"y" * 1_001, BYTES, path="a.txt"), 413, "FILE_TOO_LARGE")
        refused(await ask(FILE, "POST", {"content": "y" * 1_001}, path="a.txt"), 413, "FILE_TOO_LARGE")
        assert (jp_root_dir / "a.txt").read_bytes() == b"x" * 1_001
        assert value(await ask(FILE, "POST", b"y" * 1_000, BYTES, path="a.txt"))["ok"]
        assert value(await ask(FILE, path="a.txt"))["content"] == "y" * 1_000
        page = await open_page()
        for message in (
            {"type": "readFile", "path": "b.txt"},
            {"type": "writeFile", "path": "a.txt", "content": "y" * 1_001},
        ):
            (jp_root_dir / "b.txt").write_bytes(b"x" * 1_001)
            await page.send(message)
            assert (await page.next())["code"] == "FILE_TOO_LARGE"


@pytest.mark.parametrize(
    ("run", "asked"), [("always", ("run", "run")), ("auto", ("run", "ask")), ("ask", ("ask", "ask"))]
)
class TestRun:
    @pytest.fixture
    def jp_server_config(self, run: str) -> Config:
        return configured(run=run)

    async def test_code_waits_for_a_person_as_it_says(
        self, make_link: Any, open_page: OpenPage, asked: tuple[str, str]
    ) -> None:
        """Of a kernel's content, and of one that a notebook's saved output brought."""
        await reply(make_link().call("set_applet_content", {"html": "<p>", "windowId": "kernels"}))
        page = await open_page()
        await page.hello()
        told = []
        for view in (
            {"viewId": "v1", "windowId": "kernels", "document": 1},
            {"viewId": "v2", "windowId": "saved", "document": 1, "revision": 1},
        ):
            await page.send({"type": "viewOpened", "view": view})
            told.append((await page.next()).get("run", "run"))
        assert tuple(told) == asked


async def test_what_was_to_be_written_when_the_server_ends_is_written(jp_serverapp: Any, jp_root_dir: Path) -> None:
    driver = jp_serverapp.web_app.settings["jupyter_applets_driver"]
    actor = Actor("user")
    writes = [
        asyncio.ensure_future(
            driver.run(lambda services, n=n: services.workspace.write(f"{n}", b"x", actor), ordered=True)
        )
        for n in range(50)
    ]
    await asyncio.sleep(0)
    await driver.close()
    assert all(await asyncio.gather(*writes))
    assert all((jp_root_dir / f"{n}").is_file() for n in range(50))
