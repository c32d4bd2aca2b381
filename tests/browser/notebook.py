"""One notebook in one page of JupyterLab, used as a person does: open, Run All, look, move cells, reload, restart.

Nothing here sleeps: each method returns when JupyterLab says that it is done, or fails after the page's timeout.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import nbformat
from playwright.sync_api import Frame, FrameLocator, Locator, Page, expect

from .lab import Lab

PAGE_SCRIPT = Path(__file__).with_name("page.js")
RUN_TIMEOUT = 60.0

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """A notebook of code cells; a cell that starts with `%%markdown` on its own line is a Markdown cell."""
    nodes = [
        nbformat.v4.new_markdown_cell(source.removeprefix("%%markdown\n"))
        if source.startswith("%%markdown\n")
        else nbformat.v4.new_code_cell(source)
        for source in cells
    ]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=nodes, metadata={"kernelspec": spec}), path)


def applet_in(place: Locator, nth: int = 0) -> FrameLocator:
    """The applet's own document, in the inner of its two frames. `place` is a cell or an output view."""
    outer = place.locator(".jupyter-applet iframe").nth(nth)
    return outer.content_frame.locator("iframe").content_frame


def frame_in(place: Locator, nth: int = 0) -> Frame:
    """The same as a frame that can evaluate JavaScript. It is dead once the cell moves or the applet reloads."""
    frame = applet_in(place, nth).locator("html").element_handle().owner_frame()
    assert frame is not None
    return frame


class Notebook:
    """Owns nothing: the server, the browser and their ends are the fixtures'."""

    def __init__(self, lab: Lab, page: Page, path: str) -> None:
        self.lab = lab
        self.page = page
        self.path = path
        self._panel = page.locator(".jp-NotebookPanel")
        # Shown over everything, at no certain time, while a server restarts. A person closes it and goes on.
        lost = page.locator(".jp-Dialog", has_text="Server Connection Error")
        page.add_locator_handler(lost, lambda dialog: dialog.get_by_role("button", name="Close").click())

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self) -> None:
        """Open the notebook's URL, in a workspace of its own so that Lab brings back no other notebook."""
        workspace = uuid.uuid4().hex
        self.page.goto(f"{self.lab.url}lab/workspaces/{workspace}/tree/{self.path}?token={self.lab.token}")
        self._wait_until_open()

    def open_in(self, page: Page) -> Notebook:
        """The same notebook, saved, in another page: a second tab, or another browser."""
        self.save()
        other = Notebook(self.lab, page, self.path)
        other.open()
        return other

    def reload(self, *, save: bool = True) -> None:
        """Reload the page. Without `save`, what is not in the file is lost, as when a person chooses to leave."""
        if save:
            self.save()
        self.page.reload()
        self._wait_until_open()

    def save(self) -> None:
        self.command("docmanager:save")

    # ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def run_all(self, *, check: bool = True) -> None:
        """Run every cell and wait for the last. With `check`, a cell that raised fails the test, with its traceback."""
        self.start_all()
        self.wait_done(check=check)

    def start_all(self) -> None:
        """Run every cell without waiting, to look at the page while a cell is busy. `wait_done()` follows."""
        self._start("notebook:run-all-cells")

    def run_cell(self, index: int, *, check: bool = True) -> None:
        self.start_cell(index)
        self.wait_done(check=check, cell=index)

    def start_cell(self, index: int) -> None:
        self._start("notebook:run-cell", cell=index)

    def add_cell(self, source: str) -> int:
        """Put a cell at the end; its index."""
        return int(self.page.evaluate("([path, source]) => labPage.addCell(path, source)", [self.path, source]))

    def clear(self) -> None:
        """Delete the cells, and with them what they show."""
        self.page.evaluate("path => labPage.clear(path)", self.path)

    def run(self, source: str) -> int:
        """Run this in a new cell at the end; the cell's index. A cell that raises fails the test."""
        index = self.add_cell(source)
        self.run_cell(index)
        return index

    def value(self, expression: str) -> Any:
        """What an expression is in the kernel, by way of a new cell that prints it."""
        index = self.run(f"import json\nprint(json.dumps({expression}))")
        return json.loads(self.output_text(index))

    def error(self, source: str) -> tuple[str, str]:
        """The name and the message of the exception that a new cell ends with."""
        index = self.add_cell(source)
        self.run_cell(index, check=False)
        outputs = self.page.evaluate("([path, index]) => labPage.outputs(path, index)", [self.path, index])
        errors = [(o["ename"], o["evalue"]) for o in outputs if o["output_type"] == "error"]
        assert len(errors) == 1, outputs
        return errors[0]

    def wait_done(self, *, check: bool = True, cell: int | None = None, timeout: float = RUN_TIMEOUT) -> None:
        """Wait until nothing runs and the kernel is idle. With `check`, no cell (or not this one) may have raised."""
        self._wait("path => labPage.isDone(path)", timeout=timeout)
        if check:
            errors = self.page.evaluate("([path, cell]) => labPage.errors(path, cell ?? undefined)", [self.path, cell])
            assert not errors, "\n".join(_ANSI.sub("", error) for error in errors)

    def wait_busy(self) -> None:
        self._wait("path => labPage.kernelStatus(path) === 'busy'")

    def restart_kernel(self) -> None:
        """Restart the kernel and confirm, as from the menu."""
        self._start("notebook:restart-kernel")
        self.accept_dialog()
        self.wait_done(check=False)

    def start_kernel(self) -> None:
        """Choose a kernel from the menu for a notebook that has none, as after a restart of the server."""
        self.page.evaluate("labPage.refresh()")
        self._wait("path => !labPage.kernelStatus(path)")
        self._start("notebook:change-kernel")
        self.page.locator(".jp-Dialog select").select_option(label="Python 3 (ipykernel)")
        self.accept_dialog()
        self.wait_done(check=False)

    def command(self, name: str, args: dict[str, Any] | None = None, *, cell: int | None = None) -> None:
        """Run a command of JupyterLab's on this notebook and wait for its end."""
        number = self._start(name, args, cell)
        end = self.page.wait_for_function("number => labPage.runs[number]", arg=number).json_value()
        assert end == "done", f"{name}: {end}"

    def accept_dialog(self) -> None:
        self.page.locator(".jp-Dialog .jp-mod-accept").click()

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def cell(self, index: int) -> Locator:
        return self._panel.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Locator:
        return self.cell(index).locator(".jp-OutputArea-output")

    def output_text(self, index: int) -> str:
        """What a cell printed and returned, an output per line. Read it when the cell is done."""
        return "\n".join(text.strip("\n") for text in self.output(index).all_text_contents())

    def applet(self, index: int, nth: int = 0) -> FrameLocator:
        """The document of an applet in a cell's output; its locators wait for it, and find it again after a move."""
        return applet_in(self.cell(index), nth)

    def applet_frame(self, index: int, nth: int = 0) -> Frame:
        return frame_in(self.cell(index), nth)

    def screenshot(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path)
        return path

    # ── changing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def move_cell(self, index: int, way: Literal["up", "down"]) -> None:
        self.command(f"notebook:move-cell-{way}", cell=index)

    def new_output_view(self, index: int) -> Locator:
        """Show a cell's output a second time, beside the notebook. The place to give to `applet_in`."""
        views = self.page.locator(".jp-LinkedOutputView")
        before = views.count()
        self.command("notebook:create-output-view", cell=index)
        expect(views).to_have_count(before + 1)
        return views.nth(before)

    def set_theme(self, theme: Literal["JupyterLab Light", "JupyterLab Dark"]) -> None:
        self.command("apputils:change-theme", {"theme": theme})
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)

    # ── below ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _start(self, command: str, args: dict[str, Any] | None = None, cell: int | None = None) -> int:
        script = "([path, command, args, cell]) => labPage.start(path, command, args ?? {}, cell ?? undefined)"
        return int(self.page.evaluate(script, [self.path, command, args, cell]))

    def _wait(self, condition: str, *, timeout: float | None = None) -> None:
        self.page.wait_for_function(condition, arg=self.path, timeout=None if timeout is None else timeout * 1000)

    def _wait_until_open(self) -> None:
        self._wait("path => labPage.isOpen(path)")
        panel_id = self.page.evaluate("path => labPage.ready(path)", self.path)
        self._panel = self.page.locator(f"[id='{panel_id}']")
