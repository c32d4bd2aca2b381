"""Large files: sent in pieces that the server does not gather, to clients that read slowly or go away."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import websocket

from ..running_server import OpenPage, until
from .process import ServerProcess

MB = 1_000_000
SIZE = 100 * MB
MOST = 16 * 1024 * 1024
WAIT = 20.0
FILE = "applets/api/applet/file"

LINE = "größer als gedacht, 🙂 0123456789 abcdefghijklmnopqrstuvwxyz\n".encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Warmed up: what is loaded and allocated with the first file is no part of what a large one costs."""
    folder = tmp_path_factory.mktemp("streams")
    with ServerProcess(folder) as server:
        whole, rest = divmod(SIZE, len(LINE))
        (server.root / "large.txt").write_bytes(LINE * whole + b"x" * rest)
        (server.root / "large.bin").write_bytes(bytes(range(256)) * (SIZE // 256))
        for name in ("small.txt", "small.bin"):
            with (server.root / name.replace("small", "large")).open("rb") as large:
                (server.root / name).write_bytes(large.read(6 * MB))
            fetched(server, path=name)
            fetched(server, path=name, raw=1)
            socket = opened(server)
            list(pieces(socket, name))
            socket.close()
        yield server


def fetched(server: ServerProcess, **query: Any) -> tuple[int, str]:
    """Length and digest of a body, of which no more than a piece is held."""
    connection = server.connect()
    response = server.request(connection, FILE, **query)
    digest, length = hashlib.sha256(), 0
    while piece := response.read(MB):
        digest.update(piece)
        length += len(piece)
    connection.close()
    return length, digest.hexdigest()


def opened(server: ServerProcess) -> websocket.WebSocket:
    """A client that knows the seed's messages only."""
    url = f"ws://127.0.0.1:{server.port}/applets/ws/applet?session=nb"
    header = [f"Authorization: token {server.token}"]
    return websocket.create_connection(url, header=header, timeout=WAIT, skip_utf8_validation=True)


def pieces(socket: websocket.WebSocket, path: str) -> Iterator[str]:
    socket.send(json.dumps({"type": "readFile", "path": path}))
    done = False
    while not done:
        message = json.loads(socket.recv())
        assert message["type"] == "fileContent", message
        done = message["done"]
        yield message["chunk"]


def growth(server: ServerProcess, work: Callable[[], None]) -> int:
    """By how many bytes the server's memory grew at most during this."""
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")  # forgets the highest mark
    before = server.memory
    work()
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024 - before


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_large_file_is_sent_raw_without_being_held(server: ServerProcess) -> None:
    def work() -> None:
        assert fetched(server, path="large.bin", raw=1) == (SIZE // 256 * 256, digest_of(server.root / "large.bin"))

    assert growth(server, work) < MOST


@pytest.mark.parametrize(("name", "least"), [("large.txt", SIZE), ("large.bin", SIZE * 4 // 3)])
def test_large_file_is_sent_as_json_without_being_held(server: ServerProcess, name: str, least: int) -> None:
    def work() -> None:
        assert fetched(server, path=name)[0] >= least

    assert growth(server, work) < MOST


@pytest.mark.parametrize("name", ["small.txt", "small.bin"])
def test_json_of_a_large_file_is_whole(server: ServerProcess, name: str) -> None:
    told = server.ask(FILE, path=name)[1]
    data = told["content"].encode() if told["encoding"] == "utf-8" else base64.b64decode(told["content"])
    assert data == (server.root / name).read_bytes()


def go_on(server: ServerProcess) -> None:
    """What everybody else does meanwhile, files and all."""
    for _ in range(20):
        assert server.ask("applets/api/health")[0] == 200
    assert fetched(server, path="small.bin", raw=1)[0] == 6 * MB
    other = opened(server)
    assert sum(len(piece) for piece in pieces(other, "small.bin")) >= 6 * MB
    other.close()


def test_slow_readers_cost_nobody_anything(server: ServerProcess) -> None:
    slow = [opened(server) for _ in range(10)]
    asked = json.dumps({"type": "readFile", "path": "large.txt"})

    def work() -> None:
        slow[0].send(asked)
        go_on(server)

    assert growth(server, work) < MOST
    # As many as read at once for one client would do, and more: no client waits for another.
    for socket in slow[1:]:
        socket.send(asked)
    go_on(server)
    digest = hashlib.sha256()
    done = False
    while not done:
        message = json.loads(slow[0].recv())
        digest.update(message["chunk"].encode())
        done = message["done"]
    assert digest.hexdigest() == digest_of(server.root / "large.txt"), "who waited long has all of it in the end"
    for socket in slow:
        socket.shutdown()
    wait_until(lambda: not [path for path in server.descriptors if path.endswith("large.txt")])


def test_client_that_goes_away_in_the_middle_leaves_nothing_open(server: ServerProcess) -> None:
    wait_until(lambda: not [path for path in server.descriptors if "large" in path])
    before = len(server.descriptors)
    for query in ({"raw": 1}, {}):
        connections: list[http.client.HTTPConnection] = []
        for _ in range(5):
            connections.append(server.connect())
            response = server.request(connections[-1], FILE, path="large.txt", **query)
            assert len(response.read(MB)) == MB
        assert [path for path in server.descriptors if path.endswith("large.txt")]
        for connection in connections:
            connection.close()
            response.close()
    sockets = [opened(server) for _ in range(5)]
    for socket in sockets:
        assert next(pieces(socket, "large.txt"))
        socket.shutdown()
    wait_until(lambda: not [path for path in server.descriptors if "large" in path])
    wait_until(lambda: len(server.descriptors) <= before)


async def test_socket_that_closes_ends_the_work_for_it(
    open_page: OpenPage, jp_serverapp: Any, jp_root_dir: Path
) -> None:
    (jp_root_dir / "large.txt").write_bytes(b"x" * 20 * MB)
    driver = jp_serverapp.web_app.settings["jupyter_applets_driver"]
    page = await open_page()
    for _ in range(20):
        await page.send({"type": "readFile", "path": "large.txt"})
    assert (await page.next())["done"] is False
    assert driver._tasks
    page.socket.close()
    await until(lambda: not driver._tasks)
