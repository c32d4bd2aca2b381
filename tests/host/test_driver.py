"""The driver on a real loop, with real threads and files: order, back-pressure, failures that stay where they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets.errors import StorageFailed
from jupyter_applets.host.driver import STREAMS, Driver
from jupyter_applets.protocol.channel import FileChanged, FileContent, ListFiles, ReadFile, Subscribe, WriteFile
from jupyter_applets.protocol.link import Call, ErrorReply, Result
from jupyter_applets.tools import make_host
from jupyter_applets.tools.services import Services

WAIT = 10


class Peer:
    """What a peer was sent, to be awaited; it takes more when it is told to."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[Any] = asyncio.Queue()
        self.takes = asyncio.Event()
        self.takes.set()

    def put(self, messages: list[Any]) -> None:
        for message in messages:
            self.inbox.put_nowait(message)

    async def drained(self) -> None:
        await self.takes.wait()

    async def next(self) -> Any:
        return await asyncio.wait_for(self.inbox.get(), WAIT)

    async def file(self, call: str) -> str:
        """The content of a file of which all pieces are awaited."""
        text = ""
        while True:
            piece = await self.next()
            assert isinstance(piece, FileContent), piece
            assert piece.id == call
            text += piece.chunk
            if piece.done:
                return text


@pytest.fixture
def driver(jp_asyncio_loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[Driver]:
    services = Services(tmp_path)
    driver = Driver(make_host("0.1.0"), jp_asyncio_loop, services)
    yield driver
    jp_asyncio_loop.run_until_complete(driver.close())
    services.close()


def connect(driver: Driver, name: str = "page", role: Any = "page") -> Peer:
    peer = Peer()
    driver.connect(name, role, "nb", peer.put, peer.drained)
    return peer


async def test_peer_reads_what_it_wrote_without_waiting_for_the_answer(driver: Driver) -> None:
    page = connect(driver)
    for n in range(20):
        driver.receive("page", [WriteFile("a.txt", str(n), id="w"), ReadFile("a.txt", "r"), ListFiles("", "l")])
        answers = [await page.next() for _ in range(3)]
        assert [m.chunk for m in answers if isinstance(m, FileContent)] == [str(n)]
        [listed] = [m for m in answers if m.id == "l"]
        assert [f.name for f in listed.files] == ["a.txt"]


async def test_peer_that_takes_nothing_holds_up_no_other(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * 3_000_000)
    (tmp_path / "small").write_text("small")
    slow, quick = connect(driver, "slow"), connect(driver, "quick")
    slow.takes.clear()
    driver.receive("slow", [ReadFile("large", str(n)) for n in range(STREAMS + 3)])
    for n in range(3):
        driver.receive("quick", [ReadFile("small", str(n))])
        assert await quick.file(str(n)) == "small"
    assert slow.inbox.qsize() <= STREAMS
    slow.takes.set()
    done = 0
    while done < STREAMS + 3:
        done += (await slow.next()).done


async def test_stream_ends_when_its_peer_has_gone(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * 3_000_000)
    page = connect(driver)
    page.takes.clear()
    driver.receive("page", [ReadFile("large", "1")])
    await page.next()
    driver.disconnect("page")
    page.takes.set()
    while driver._tasks:
        await asyncio.wait(driver._tasks, timeout=WAIT)
    assert page.inbox.empty()
    assert driver._streams == {}


async def test_failure_of_the_system_is_an_error_with_the_id(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(driver.services.workspace, "write", full)
    monkeypatch.setattr(driver.services.workspace, "open", full)
    page = connect(driver)
    for message in (WriteFile("a", "x", id="1"), ReadFile("a", "1")):
        driver.receive("page", [message])
        error = await page.next()
        assert (error.code, error.id) == ("STORAGE_FAILED", "1")
        assert "No space left" in error.message


async def test_failure_inside_is_an_error_with_the_id_and_the_next_is_served(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    kernel = connect(driver, "kernel", "kernel")
    with monkeypatch.context() as patch:
        patch.setattr(driver.services.store, "list", fails)
        driver.receive("kernel", [Call("1", "list_applets")])
        error = await kernel.next()
    assert isinstance(error, ErrorReply)
    assert (error.code, error.id) == ("INTERNAL_ERROR", "1")
    with monkeypatch.context() as patch:
        patch.setattr(driver.host, "show", fails)
        driver.receive("kernel", [Call("2", "load_applet", {"slug": "calculator"})])
        error = await kernel.next()
    assert (error.code, error.id) == ("INTERNAL_ERROR", "2")
    assert "ZeroDivisionError" in caplog.text
    driver.receive("kernel", [Call("3", "list_applets")])
    assert isinstance(await kernel.next(), Result)


async def test_sink_that_fails_does_not_keep_others_from_being_told(driver: Driver) -> None:
    def broken(messages: list[Any]) -> None:
        raise ConnectionError

    driver.connect("broken", "kernel", "nb", broken)
    kernel = connect(driver, "kernel", "kernel")
    driver.receive("kernel", [Call("1", "set_applet_content", {"html": "<p>"})])
    kinds = {type(await kernel.next()).__name__ for _ in range(2)}
    assert kinds == {"WindowContent", "Result"}


async def test_change_from_outside_that_fails_raises_and_still_sends_what_was_to_be_sent(driver: Driver) -> None:
    kernel = connect(driver, "kernel", "kernel")

    def change(host: Any) -> None:
        host.send("kernel", FileChanged("a", "created"))
        raise StorageFailed("no")

    with pytest.raises(StorageFailed):
        driver.apply(change)
    assert await kernel.next() == FileChanged("a", "created")


async def test_subscriber_is_told_when_nothing_more_can_be_watched(driver: Driver) -> None:
    class Full:
        def __init__(self, changed: Any) -> None: ...

        def add(self, path: str, done: Any) -> None:
            done(StorageFailed("256 folders are watched already."))

        def remove(self, path: str) -> None: ...

        def add_tree(self) -> None: ...

        async def close(self) -> None: ...

    driver._make_watcher = Full
    page = connect(driver)
    driver.receive("page", [Subscribe("a.txt", "1")])
    answer = await page.next()
    assert (answer.code, answer.id) == ("STORAGE_FAILED", "1")


async def test_closing_in_the_middle_of_things_is_quiet(tmp_path: Path) -> None:
    services = Services(tmp_path)
    driver = Driver(make_host("0.1.0"), asyncio.get_running_loop(), services)
    connect(driver)
    for n in range(20):
        driver.receive("page", [WriteFile(f"{n}.txt", "x" * 100_000), ReadFile(f"{n}.txt")])
    await driver.close()
    while driver._tasks:
        await asyncio.wait(driver._tasks, timeout=WAIT)
    services.close()
