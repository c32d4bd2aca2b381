"""The stage: one Chromium, JupyterLabs of three kinds and the floor's server, each started when it is first needed."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import FLAGS, TIMEOUT_MS, find_chromium
from tests.browser.lab import Lab
from tests.browser.notebook import PAGE_SCRIPT, RUN_TIMEOUT, Notebook, write_notebook

ROOT = Path(__file__).parents[2]

Kind = Literal["ours", "ours without Nagle", "stock"]


class Stage(ExitStack):
    """Owns the processes. What is started here ends with it."""

    def __init__(self) -> None:
        super().__init__()
        self._names = (f"bench-{n}.ipynb" for n in itertools.count())
        self.browser = cache(self._browser)
        self.lab = cache(self._lab)
        self.floor = cache(self._floor)

    def notebook(self, kind: Kind, cells: list[str]) -> BenchNotebook:
        lab = self.lab(kind)
        name = next(self._names)
        write_notebook(lab.root / name, cells)
        notebook = BenchNotebook(lab, self.page(), name)
        notebook.open()
        return notebook

    def page(self) -> Page:
        context = self.browser().new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(TIMEOUT_MS)
        context.add_init_script(path=PAGE_SCRIPT)
        return context.new_page()

    def folder(self) -> Path:
        return Path(self.enter_context(tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)))

    def _browser(self) -> Browser:
        playwright = self.enter_context(sync_playwright())
        flags = [*FLAGS, "--no-sandbox"] if os.getuid() == 0 else FLAGS
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        self.callback(browser.close)
        return browser

    def _lab(self, kind: Kind) -> Lab:
        folder = self.folder()
        args = ["--JupyterApplets.nodelay_kernel_sockets=True"] if kind == "ours without Nagle" else []
        lab = Lab(folder, args=args, env={"PYTHONPATH": str(ROOT)}, extension=kind != "stock")
        self.callback(lab.stop)
        lab.start()
        return lab

    def _floor(self) -> str:
        """The floor's server and its page. Gives the server's address."""
        command = [sys.executable, "-m", "tests.bench.floor", "server"]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.callback(server.wait, 10)
        self.callback(server.terminate)
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        page = self.page()
        page.goto(f"http://{address}/")
        page.wait_for_function("document.title === 'ready'")
        return address


class BenchNotebook(Notebook):
    """A notebook whose cells leave what they measured in a file."""

    def measure(self, cell: int) -> Any:
        """Run a cell and take what it measured. Meanwhile this process must rest: Playwright tells it of every frame on
        the page's sockets, and hearing that would cost a core as much as a call."""
        result = self.lab.root / f"{self.path}.json"
        result.unlink(missing_ok=True)
        self.page.bring_to_front()
        self.start_cell(cell)
        deadline = time.monotonic() + RUN_TIMEOUT
        while not result.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.wait_done()
        return json.loads(result.read_text())
