"""A server that is killed in the middle of writing, or that cannot write at all."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from ..server.process import READ_ONLY, ServerProcess

KILLS = 12
WRITERS = 4
FILE, APPLETS = "applets/api/applet/file", "applets/api/applets"
LENGTH = 1_000_000


class Writer(threading.Thread):
    """Writes one file again and again, each time with one other letter, until the server is gone."""

    def __init__(self, server: ServerProcess, number: int) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._name = f"data/{number}.txt"
        self._number = number
        self.answered = threading.Event()

    def run(self) -> None:
        connection = self._server.connect()
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            for round_ in range(10_000):
                letter = chr(ord("a") + round_ % 26)
                body = {"content": letter * LENGTH}
                assert self._put(connection, FILE, "POST", body, path=self._name) == 200
                applet = {"html": letter * 500, "js": letter * 500, "css": letter * 500}
                assert self._put(connection, f"{APPLETS}/w{self._number}", "PUT", applet) < 300
                self.answered.set()

    def _put(self, connection: Any, route: str, verb: str, body: Any, **query: Any) -> int:
        response = self._server.request(connection, route, verb, json.dumps(body).encode(), **query)
        response.read()
        return response.status


@pytest.mark.timeout(300)
def test_killed_server_leaves_no_torn_file_and_the_next_one_lists_everything(tmp_path: Path) -> None:
    for kill in range(KILLS):
        with ServerProcess(tmp_path) as server:
            check(server, expected=min(kill, 1) * WRITERS)
            writers = [Writer(server, number) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            for writer in writers:
                assert writer.answered.wait(30)
            # Spread over the steps of a write, by work and not by the clock.
            for _ in range(kill * 20_011):
                pass
            server.kill()
            for writer in writers:
                writer.join(30)
    with ServerProcess(tmp_path) as server:
        check(server, expected=WRITERS)


def check(server: ServerProcess, expected: int) -> None:
    """Files are of one letter, applets of one version; of the audit log only a line that a kill tore is no JSON."""
    status, listed = server.ask("applets/api/applet/list", path="data" if expected else "")
    assert status == 200
    names = [entry["name"] for entry in listed["files"] if re.fullmatch(r"\d\.txt", entry["name"])]
    assert len(names) == expected
    for name in names:
        content = server.ask(FILE, path=f"data/{name}")[1]["content"]
        assert len(content) == LENGTH
        assert len(set(content)) == 1
    saved = [entry for entry in server.ask(APPLETS)[1] if re.fullmatch(r"w\d", entry["slug"])]
    assert len(saved) == expected
    for entry in saved:
        assert "broken" not in entry
        applet = server.ask(f"{APPLETS}/{entry['slug']}")[1]
        assert len({applet["html"].strip(), applet["js"].strip(), applet["css"].strip()}) == 1
    if expected:
        log = (server.root / ".jupyter-applets" / "audit.jsonl").read_text().splitlines()
        torn = [line for line in log if not is_json(line)]
        assert len(torn) <= KILLS
        assert is_json(log[-1])


def is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


@pytest.fixture
def read_only(tmp_path: Path) -> Any:
    """A server whose root can only be read: by who runs it, or, as root stops at no permission, by a mount."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("hello")
    if os.geteuid() == 0:
        if subprocess.run([*READ_ONLY, str(root), "true"], capture_output=True, check=False).returncode:
            pytest.skip("a folder cannot be made read-only here")
        with ServerProcess(tmp_path, read_only=True) as server:
            yield server
        return
    root.chmod(0o555)
    with ServerProcess(tmp_path) as server:
        yield server
    root.chmod(0o755)


def test_root_that_can_only_be_read_is_served(read_only: ServerProcess) -> None:
    assert read_only.ask("applets/api/health")[1]["windows"] == 0
    assert read_only.ask(FILE, path="a.txt")[1]["content"] == "hello"
    assert [entry["name"] for entry in read_only.ask("applets/api/applet/list")[1]["files"]] == ["a.txt"]
    assert "calculator" in [entry["slug"] for entry in read_only.ask(APPLETS)[1]]
    for path in ("a.txt", "b.txt", "new/c.txt"):
        refused(*read_only.ask(FILE, "POST", {"content": "x"}, path=path))
    refused(*read_only.ask(f"{APPLETS}/sheet", "PUT", {"html": "<p>"}))
    assert read_only.ask(FILE, path="a.txt")[1]["content"] == "hello"


def refused(status: int, told: Any) -> None:
    assert (status, told["code"]) == (507, "STORAGE_FAILED")
    assert "read-only" in told["message"] or "permit" in told["message"]
