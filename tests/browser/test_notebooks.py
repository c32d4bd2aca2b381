"""The notebooks we ship: each is opened and run as a person does."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from .conftest import OpenNotebook

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_top_to_bottom(open_notebook: OpenNotebook, path: Path) -> None:
    open_notebook(path).run_all()


def test_quickstart_does_what_it_says(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(next(path for path in NOTEBOOKS if path.stem == "quickstart"))
    notebook.run_all()
    sheet = notebook.applet(4)
    expect(sheet.locator("#D1")).to_have_text("54")
    expect(sheet.locator("#C2")).to_have_text("by await")
    expect(sheet.locator("#C3")).to_have_text("by name")
    sheet.locator("#D4").click()
    sheet.locator("#D4").press_sequentially("typed by hand")
    sheet.locator("#done").click()
    expect(notebook.cell(12)).to_contain_text("User pressed Done")
    notebook.reload()
    expect(notebook.applet(4).locator("#D4")).to_have_text("typed by hand")
    expect(notebook.applet(4).locator("#D1")).to_have_text("54")


def test_example_of_the_readme_runs_as_printed(open_notebook: OpenNotebook) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    example = readme.split("```python\n", 1)[1].split("```", 1)[0]
    notebook = open_notebook([example])
    notebook.run_all()
    expect(notebook.applet(0).locator("#n")).to_have_text("42")
    assert "(41, 42, 42)" in notebook.output_text(0)
