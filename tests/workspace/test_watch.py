"""The watcher tells each change once it has happened, and nothing else, however the change was made."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jupyter_applets.errors import PathRefused, StorageFailed
from jupyter_applets.workspace import watch
from jupyter_applets.workspace.audit import Actor
from jupyter_applets.workspace.files import Workspace
from jupyter_applets.workspace.watch import Watcher

USER = Actor("user")
Told = list[tuple[str, str]]


class Scene:
    """A workspace, a watcher, and what the watcher told."""

    def __init__(self, root: Path, *, polling: bool) -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.told: Told = []
        self._news = asyncio.Event()
        self.watcher = Watcher(self.workspace, self._tell, polling=polling)

    def _tell(self, path: str, event: str) -> None:
        self.told.append((path, event))
        self._news.set()

    async def hears(self, *events: tuple[str, str]) -> None:
        """Wait until each of these was told."""
        while not set(events) <= set(self.told):
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 20)

    async def hears_nothing_before(self, path: str) -> None:
        """Make one more change, which is told after all that came before it."""
        (self.root / path).write_text("a last one")
        await self.hears((path, "created"))


@pytest.fixture(params=["system", "polling"])
def play(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scene]:
    monkeypatch.setattr(watch, "_POLL", 0.02)

    def run(body: Callable[[Scene], Awaitable[None]]) -> Scene:
        async def main() -> Scene:
            scene = Scene(tmp_path, polling=request.param == "polling")
            try:
                await body(scene)
            finally:
                await scene.watcher.close()
                scene.workspace.close()
            return scene

        return asyncio.run(main())

    return run


Play = Callable[[Callable[[Scene], Awaitable[None]]], Scene]


def test_file_that_comes_changes_and_goes(play: Play) -> None:
    async def body(scene: Scene) -> None:
        scene.watcher.add("a.csv", USER)
        file = scene.root / "a.csv"
        file.write_text("1")
        await scene.hears(("a.csv", "created"))
        scene.workspace.write("a.csv", b"22", USER)
        await scene.hears(("a.csv", "modified"))
        file.unlink()
        await scene.hears(("a.csv", "deleted"))

    scene = play(body)
    assert [event for _, event in scene.told if event != "modified"] == ["created", "deleted"]


def test_replacing_and_recreating_is_one_modification(play: Play) -> None:
    async def body(scene: Scene) -> None:
        file = scene.root / "a.csv"
        file.write_text("1")
        scene.watcher.add("a.csv", USER)
        scene.watcher.add("", USER)
        file.unlink()
        file.write_text("2")
        await scene.hears(("a.csv", "modified"))

    scene = play(body)
    assert {event for path, event in scene.told if path == "a.csv"} == {"modified"}


def test_what_happens_right_after_adding_is_not_lost(play: Play) -> None:
    """No await stands between: the system is not even asked to watch yet."""

    async def body(scene: Scene) -> None:
        for number in range(20):
            scene.watcher.add(f"{number}.txt", USER)
            (scene.root / f"{number}.txt").write_text("x")
            await asyncio.sleep(0)
        await scene.hears(*((f"{number}.txt", "created") for number in range(20)))

    assert len(play(body).told) == 20


def test_path_whose_folders_come_later(play: Play) -> None:
    async def body(scene: Scene) -> None:
        scene.watcher.add("deep/er/a.csv", USER)
        (scene.root / "deep" / "er").mkdir(parents=True)
        (scene.root / "deep" / "er" / "a.csv").write_text("1")
        await scene.hears(("deep/er/a.csv", "created"))
        (scene.root / "deep").rename(scene.root / "gone")
        await scene.hears(("deep/er/a.csv", "deleted"))
        (scene.root / "gone").rename(scene.root / "deep")
        await asyncio.sleep(0)
        scene.told.clear()
        await scene.hears(("deep/er/a.csv", "created"))

    play(body)


def test_folder_tells_of_what_is_directly_in_it(play: Play) -> None:
    async def body(scene: Scene) -> None:
        (scene.root / "data" / "sub").mkdir(parents=True)
        scene.watcher.add("data", USER)
        (scene.root / "data" / "sub" / "deep.txt").write_text("x")
        (scene.root / "data" / ".env").write_text("secret")
        scene.workspace.write("data/a.csv", b"1", USER)
        await scene.hears(("data/a.csv", "created"))
        await scene.hears_nothing_before("data/last")

    assert {path for path, _ in play(body).told} == {"data/a.csv", "data/last"}


def test_tree_tells_of_everything_below_it(play: Play) -> None:
    async def body(scene: Scene) -> None:
        scene.watcher.add_tree()
        folder = scene.root / "applets" / "sheet" / "modules"
        folder.mkdir(parents=True)
        (folder / "d3.mjs").write_text("1")
        await scene.hears(("applets/sheet/modules/d3.mjs", "created"))
        (folder / "d3.mjs").write_text("22")
        await scene.hears(("applets/sheet/modules/d3.mjs", "modified"))
        (scene.root / "applets" / "sheet").rename(scene.root / "elsewhere")
        await scene.hears(("applets/sheet/modules/d3.mjs", "deleted"))

    play(body)


def test_links_are_not_followed_out_of_the_root(play: Play, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")

    async def body(scene: Scene) -> None:
        (scene.root / "applets").mkdir()
        (scene.root / "applets" / "out").symlink_to(outside)
        scene.watcher.add_tree()
        scene.watcher.add("applets/out/a.txt", USER)
        (outside / "a.txt").write_text("x")
        await scene.hears_nothing_before("applets/last")

    assert play(body).told == [("applets/last", "created")]


def test_references_are_counted(play: Play) -> None:
    async def body(scene: Scene) -> None:
        scene.watcher.add("a", USER)
        scene.watcher.add("a", USER)
        scene.watcher.remove("a")
        (scene.root / "a").write_text("1")
        await scene.hears(("a", "created"))
        scene.watcher.remove("a")
        scene.watcher.add("b", USER)
        (scene.root / "a").write_text("22")
        await scene.hears_nothing_before("b")

    assert play(body).told == [("a", "created"), ("b", "created")]


def test_thousands_of_changes_at_once_end_as_they_are(play: Play) -> None:
    async def body(scene: Scene) -> None:
        scene.watcher.add("", USER)
        await asyncio.sleep(0)
        for number in range(3_000):
            (scene.root / f"{number}.txt").write_text("x")
        await scene.hears(*((f"{number}.txt", "created") for number in range(3_000)))

    play(body)


def test_paths_out_of_reach_are_not_watched(play: Play) -> None:
    async def body(scene: Scene) -> None:
        for path in ("../x", ".env", ".jupyter-applets/audit.jsonl"):
            with pytest.raises(PathRefused):
                scene.watcher.add(path, USER)

    assert '"verb":"watch"' in (play(body).root / ".jupyter-applets" / "audit.jsonl").read_text()


def test_folders_are_bounded(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MAX_FOLDERS", 10)

    async def body(scene: Scene) -> None:
        for number in range(9):
            scene.watcher.add(f"{number}/a", USER)
        with pytest.raises(StorageFailed, match="10 folders"):
            scene.watcher.add("9/a", USER)
        scene.watcher.add("8/b", USER)
        scene.watcher.remove("0/a")
        scene.watcher.add("9/a", USER)

    play(body)


def test_listener_that_fails_hears_the_next_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[str]:
        heard = []
        both = asyncio.Event()

        def tell(path: str, event: str) -> None:
            heard.append(path)
            if len(heard) == 2:
                both.set()
            raise ValueError(path)

        watcher = Watcher(Workspace(tmp_path), tell)
        watcher.add("a")
        watcher.add("b")
        (tmp_path / "a").write_text("")
        (tmp_path / "b").write_text("")
        await both.wait()
        await watcher.close()
        return heard

    assert sorted(asyncio.run(main())) == ["a", "b"]
    assert "in vain" in caplog.text


def test_where_the_system_does_not_tell_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr("watchfiles.main.RustNotify", refuse)
    monkeypatch.setattr(watch, "_POLL", 0.02)

    async def main() -> None:
        scene = Scene(tmp_path, polling=False)
        scene.watcher.add("a", USER)
        (tmp_path / "a").write_text("")
        await scene.hears(("a", "created"))
        os.truncate(tmp_path / "a", 5)
        await scene.hears(("a", "modified"))
        await scene.watcher.close()

    asyncio.run(main())
    assert caplog.text.count("now and then") == 1
