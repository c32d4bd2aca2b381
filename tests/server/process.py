"""A Jupyter server in a process of its own: to be measured, killed, or kept from writing."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

START_TIMEOUT = 60.0
READ_ONLY = ["unshare", "--mount", "sh", "-c", 'mount --bind -o ro "$0" "$0" && cd "$0" && exec "$@"']
"""A root that can only be read, for this process alone: permissions would not stop who runs as root."""


class ServerProcess:
    """Owns the process; `with` ends it. The same folder may be served again by another."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.token = secrets.token_hex(16)
        names = ("CONFIG", "DATA", "RUNTIME")
        env = {**os.environ, **{f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in names}}
        command = [sys.executable, "-m", "jupyter_server", "--allow-root", "--ip=127.0.0.1", "--port=0"]
        command += [f"--ServerApp.root_dir={self.root}", f"--IdentityProvider.token={self.token}"]
        command += ["--ServerApp.jpserver_extensions={'jupyter_applets': True}", "--no-browser"]
        with (folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*READ_ONLY, str(self.root), *command] if read_only else command,
                cwd=self.root,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.port = self._find_port()

    def __enter__(self) -> ServerProcess:  # noqa: PYI034 (Self is of 3.11)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(
        self,
        connection: http.client.HTTPConnection,
        route: str,
        verb: str = "GET",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> http.client.HTTPResponse:
        """The answer, of which the body is still to be read."""
        own = {"Authorization": f"token {self.token}", **(headers or {})}
        connection.request(verb, f"/{route}?{urlencode(query)}", body, own)
        return connection.getresponse()

    def ask(self, route: str, verb: str = "GET", body: Any = None, **query: Any) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        connection = self.connect()
        try:
            data = None if body is None else json.dumps(body).encode()
            response = self.request(connection, route, verb, data, **query)
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    # ---- what it holds

    @property
    def memory(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    @property
    def descriptors(self) -> list[str]:
        """What each open descriptor is of."""
        found = []
        for entry in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(str(entry.readlink()))
        return found

    def _find_port(self) -> int:
        """What it wrote down once it listened."""
        deadline = time.monotonic() + START_TIMEOUT
        while self.process.poll() is None and time.monotonic() < deadline:
            for file in (self.folder / "runtime").glob(f"jpserver-{self.process.pid}.json"):
                with contextlib.suppress(ValueError):
                    port: int = json.loads(file.read_text())["port"]
                    with contextlib.suppress(OSError):
                        self.port = port
                        self.ask("applets/api/health")
                        return port
            time.sleep(0.02)
        self.kill()
        raise RuntimeError(f"The server did not start:\n{(self.folder / 'server.log').read_text()[-4000:]}")
