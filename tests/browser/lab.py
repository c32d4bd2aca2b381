"""One JupyterLab server: a process with folders of its own, so that nothing of the user's is read or changed."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

START_TIMEOUT = 60.0
# A healthy server ends within a second or two. One that was just serving a file may wait for ever for a worker thread
# (jupyter_server 2.21 with anyio 4, with or without the extension), after it has ended everything else.
STOP_TIMEOUT = 5.0

# What Lab would fetch from outside, and what would stand between a test and its notebook.
_USER_SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/extensionmanager-extension/plugin.jupyterlab-settings": {"enabled": False},
    "@jupyterlab/docmanager-extension/plugin.jupyterlab-settings": {"autosave": False},
}


class Lab:
    """Owns the server's process and its folder. `restart()` keeps port, token and files, as a user's restart would."""

    def __init__(
        self, folder: Path, *, args: Sequence[str] = (), env: Mapping[str, str] | None = None, extension: bool = True
    ) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.log_path = folder / "lab.log"
        self.port = _free_port()
        self.token = secrets.token_hex(16)
        self.url = f"http://127.0.0.1:{self.port}/"
        self._args = list(args)
        self._extension = extension
        self._process: subprocess.Popen[bytes] | None = None
        self._env = {
            **os.environ,
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            # A kernel takes the interpreter of these tests, whatever kernels the user has installed.
            "JUPYTER_PREFER_ENV_PATH": "1",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            **(env or {}),
        }

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.reset_settings()
        self._write_config()
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
        command += [f"--port={self.port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={self.root}"]
        command += [f"--IdentityProvider.token={self.token}", "--LabApp.expose_app_in_browser=True"]
        command += ["--LabApp.news_url=", "--LabApp.extension_manager=readonly", *self._args]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.root,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """End the server and its kernels, as Ctrl-C and `y` would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the server without a goodbye. Its kernels notice by themselves."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def api(self, path: str, *, method: str = "GET", body: Any = None) -> Any:
        """The server's answer to a call of its HTTP interface, e.g. `api("api/sessions")`."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            text = response.read()
        return json.loads(text) if text else None

    def end_kernels(self) -> None:
        for session in self.api("api/sessions"):
            with contextlib.suppress(urllib.error.HTTPError):
                self.api(f"api/sessions/{session['id']}", method="DELETE")

    def reset_settings(self) -> None:
        """Lab's settings as a new user finds them, less what needs the network."""
        settings = self.folder / "settings"
        shutil.rmtree(settings, ignore_errors=True)
        for name, values in _USER_SETTINGS.items():
            path = settings / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def _write_config(self) -> None:
        # Installing has enabled the extension; a user's own configuration can disable it.
        config = self.folder / "config" / "jupyter_server_config.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        extensions = {} if self._extension else {"jupyter_applets": False}
        config.write_text(json.dumps({"ServerApp": {"jpserver_extensions": extensions}}))

    def _wait_until_it_answers(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT
        while self._process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                self.api("api/status")
                return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"JupyterLab did not start:\n{self.log()[-4000:]}")

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for step in (how, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, step)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_TIMEOUT)
                return


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
