"""Fixtures: one Chromium and one JupyterLab for all browser tests, and per test a fresh profile, notebooks and kernels.

A test that fails leaves pictures of its pages, their consoles and the server's log in `.artifacts/`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from .lab import Lab
from .notebook import PAGE_SCRIPT, Notebook, write_notebook

HERE = Path(__file__).parent
ARTIFACTS = HERE / ".artifacts"
TIMEOUT_MS = 20_000
# Chromium looks things up on the network by itself; a test must not wait for that.
FLAGS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]

_reports = pytest.StashKey[list[pytest.TestReport]]()


class StartLab(Protocol):
    def __call__(
        self, args: Sequence[str] = (), env: Mapping[str, str] | None = None, *, extension: bool = True
    ) -> Lab: ...


class NewContext(Protocol):
    def __call__(self) -> BrowserContext: ...


class OpenNotebook(Protocol):
    def __call__(
        self, cells: Sequence[str] | Path, *, lab: Lab | None = None, context: BrowserContext | None = None
    ) -> Notebook: ...


# ── the browser and the server ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(autouse=True)
def jp_asyncio_loop() -> None:
    """No loop per test here: Playwright's own loop runs on this thread, and pytest-jupyter would close it."""


@pytest.fixture(autouse=True)
def jp_server_cleanup() -> None:
    """Nor a server to clean up on that loop."""


# Package, not session: other tests run loops of their own on this thread, which they cannot beside Playwright's.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=TIMEOUT_MS)
    flags = [*FLAGS, "--no-sandbox"] if os.getuid() == 0 else FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The JupyterLab that tests share, as a user has it after installing."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    try:
        lab.start()
        yield lab
    finally:
        lab.stop()


@pytest.fixture
def start_lab(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[StartLab]:
    """Start a JupyterLab for this test alone: with other arguments, without the extension, or to be restarted."""
    labs: list[Lab] = []

    def start(args: Sequence[str] = (), env: Mapping[str, str] | None = None, *, extension: bool = True) -> Lab:
        lab = Lab(tmp_path_factory.mktemp("lab"), args=args, env=env, extension=extension)
        labs.append(lab)
        lab.start()
        return lab

    yield start
    for number, lab in enumerate(labs, 1):
        lab.stop()
        if failed(request.node):
            keep_log(request.node, lab, f"lab-{number}.log")


# ── pages and notebooks ──────────────────────────────────────────────────────────────────────────────────────────────


def make_context(browser: Browser, console: list[str]) -> BrowserContext:
    """A profile whose pages write what they say on their consoles to `console`."""

    def listen(page: Page) -> None:
        page.on("console", lambda message: console.append(describe(message)))
        page.on("pageerror", lambda error: console.append(f"uncaught: {error}"))

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(TIMEOUT_MS)
    context.add_init_script(path=PAGE_SCRIPT)
    context.on("page", listen)
    return context


@pytest.fixture
def new_context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[NewContext]:
    """Make a fresh browser profile: a user of their own, with no cookie. Two tabs are two pages of one profile."""
    contexts: list[BrowserContext] = []
    console: list[str] = []

    def make() -> BrowserContext:
        context = make_context(browser, console)
        contexts.append(context)
        return context

    yield make
    if failed(request.node):
        keep_pages(request.node, [page for context in contexts for page in context.pages], console)
    for context in contexts:
        context.close()


@pytest.fixture
def context(new_context: NewContext) -> BrowserContext:
    """The browser profile of a test that needs only one."""
    return new_context()


@pytest.fixture
def open_notebook(request: pytest.FixtureRequest) -> Iterator[OpenNotebook]:
    """Open a notebook with these cells, or a copy of an .ipynb file, in a new tab."""
    labs: list[Lab] = []

    def open_notebook(
        cells: Sequence[str] | Path, *, lab: Lab | None = None, context: BrowserContext | None = None
    ) -> Notebook:
        lab = lab or request.getfixturevalue("lab")
        context = context or request.getfixturevalue("context")
        labs.append(lab)
        name = f"{slug(request.node)}-{len(labs)}.ipynb"
        if isinstance(cells, Path):
            shutil.copyfile(cells, lab.root / name)
        else:
            write_notebook(lab.root / name, cells)
        notebook = Notebook(lab, context.new_page(), name)
        notebook.open()
        return notebook

    yield open_notebook
    for lab in {id(lab): lab for lab in labs}.values():
        if lab.is_running:
            lab.end_kernels()
        lab.reset_settings()
        if failed(request.node):
            keep_log(request.node, lab, "lab.log")


@pytest.fixture(scope="module")
def module_notebook(browser: Browser, lab: Lab, request: pytest.FixtureRequest) -> Iterator[tuple[Notebook, list[str]]]:
    """Opening a notebook takes seconds, so the tests of a module may share one; `notebook` is how they see it."""
    console: list[str] = []
    context = make_context(browser, console)
    name = f"{request.path.stem}.ipynb"
    write_notebook(lab.root / name, [""])
    notebook = Notebook(lab, context.new_page(), name)
    notebook.open()
    notebook.run("from jupyter_applets import *")
    yield notebook, console
    context.close()
    lab.end_kernels()
    lab.reset_settings()


@pytest.fixture
def notebook(module_notebook: tuple[Notebook, list[str]], request: pytest.FixtureRequest) -> Iterator[Notebook]:
    """The module's notebook without the cells of the tests before. The kernel and its names are the same."""
    notebook, console = module_notebook
    notebook.clear()
    console.clear()
    yield notebook
    if failed(request.node):
        keep_pages(request.node, [notebook.page], console)
        keep_log(request.node, notebook.lab, "lab.log")


# ── what a failure leaves ────────────────────────────────────────────────────────────────────────────────────────────


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash.setdefault(_reports, []).append(report)
    return report


def failed(item: pytest.Item) -> bool:
    return any(report.failed for report in item.stash.get(_reports, []))


def artifacts(item: pytest.Item) -> Path:
    folder = ARTIFACTS / slug(item)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_pages(item: pytest.Item, pages: Sequence[Page], console: Sequence[str]) -> None:
    for number, page in enumerate(pages, 1):
        page.screenshot(path=artifacts(item) / f"page-{number}.png")
    (artifacts(item) / "console.txt").write_text("\n".join(console))


def keep_log(item: pytest.Item, lab: Lab, name: str) -> None:
    (artifacts(item) / name).write_text("\n".join(lab.log().splitlines()[-300:]))


def slug(item: pytest.Item) -> str:
    return re.sub(r"[^a-zA-Z0-9]+", "-", item.name).strip("-")


def describe(message: ConsoleMessage) -> str:
    return f"{message.type}: {message.text}"


def find_chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise RuntimeError("The browser tests need Chromium: `make chromium` installs it.")
