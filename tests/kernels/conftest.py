"""Fixtures: a real kernel of each version, and a page in front of it, with and without subshells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from .environments import with_kernel
from .kernel import Kernel, Page, start


class Setup(NamedTuple):
    """A row of the table in CONTRIBUTING.md: which ipykernel, and where the page's messages go."""

    version: str
    subshells: bool

    def __str__(self) -> str:
        return f"{self.version}-{'subshell' if self.subshells else 'main'}"


SETUPS = [Setup("6.31", False), *(Setup(version, way) for version in ("7.3", "7.4") for way in (False, True))]

# Tests as they run in the kernel: what was made of one call, and how long it took, printed as a line of JSON.
PRELUDE = """
import asyncio, json, threading, time
from IPython.display import display
from ipywidgets import Button
from jupyter_applets import Applet
from jupyter_applets.errors import AppletError

def report(start, kind, value):
    print(json.dumps({"kind": kind, "value": value, "seconds": time.monotonic() - start}), flush=True)

def blocking(**options):
    start = time.monotonic()
    try:
        report(start, "answer", app.query("cells", **options))
    except AppletError as e:
        report(start, type(e).__name__, e.message)

async def awaiting(**options):
    start = time.monotonic()
    try:
        report(start, "answer", await app.aquery("cells", **options))
    except AppletError as e:
        report(start, type(e).__name__, e.message)
"""


@pytest.fixture(scope="session", params=SETUPS, ids=str)
def setup(request: pytest.FixtureRequest) -> Setup:
    row: Setup = request.param
    if row.version == "7.4" and sys.version_info < (3, 11):
        pytest.skip("ipykernel 7.4 needs Python 3.11")
    return row


def new_page(setup: Setup, folder: Path, stack: ExitStack) -> Page:
    kernel = stack.enter_context(start(folder, with_kernel(setup.version)))
    kernel.run(PRELUDE)
    return Page(kernel, subshells=setup.subshells)


@pytest.fixture(scope="session")
def shared_page(setup: Setup, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with ExitStack() as stack:
        yield new_page(setup, tmp_path_factory.mktemp("kernel"), stack)


@pytest.fixture
def fresh_page(setup: Setup, tmp_path: Path) -> Iterator[Page]:
    """In front of a kernel that no page has spoken to."""
    with ExitStack() as stack:
        yield new_page(setup, tmp_path, stack)


@pytest.fixture
def page(shared_page: Page) -> Page:
    """It shows an applet, `app` in the kernel, and both have said hello."""
    shared_page.kernel.run("app = Applet(window_id='sheet'); display(app)")
    shared_page.kernel.until(lambda: shared_page.welcomed)
    return shared_page


@pytest.fixture
def kernel(page: Page) -> Kernel:
    return page.kernel
