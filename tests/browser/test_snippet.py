"""The project's first example, by a person's path: opened, Run All, and read from the page."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .applets import SHEET_HTML, SHEET_JS
from .conftest import OpenNotebook

MAKE = f"""\
from jupyter_applets import Applet, app_query, app_command

sheet = Applet(html={SHEET_HTML!r}, js={SHEET_JS!r}, css="td {{ color: green }}", title="Sheet", window_id="sheet")
display(sheet)
print(sorted(sheet.query("manifest")), sheet.query("cells"))
"""
LOOP = """\
%%time
for i in range(100):
    sheet.command("setCells", cells={"C1": str(i)})
    assert sheet.query("cells")["C1"] == str(i)
print("looped", sheet.query("cells")["C1"])
"""
CELLS = [
    MAKE,
    "sheet.command('setCells', cells={'A1': '100'})",
    "await sheet.acommand('setCells', {'cells': {'A2': '7'}}), await sheet.aquery('cells')",
    "app_command('sheet', 'setCells', {'cells': {'B1': '2'}}), app_query('sheet', 'cells')",
    LOOP,
    "sheet.on_interaction(print)",
    "sheet.manifest.commands['setCells'].params",
    "sheet.manifest",
    "print(sheet.manifest)",
]


def test_snippet_runs_as_a_notebook(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(CELLS)
    notebook.run_all()

    # Shown, and answering in the very cell that displays it.
    assert "['appId', 'commands', 'name', 'state'] {}" in notebook.output_text(0)
    assert "{'ok': True, 'count': 1}" in notebook.output_text(1)
    assert "({'ok': True, 'count': 1}, {'A1': '100', 'A2': '7'})" in notebook.output_text(2)
    assert "{'A1': '100', 'A2': '7', 'B1': '2'}" in notebook.output_text(3)

    # A loop of blocking calls in one busy cell, under %%time.
    timed = notebook.output_text(4)
    assert "looped 99" in timed
    assert "Wall time" in timed

    # The applet on the page is the one that was driven, with its style.
    grid = notebook.applet(0).locator("#grid")
    expect(grid.locator("td")).to_have_text(["100", "7", "2", "99"])
    expect(grid.locator("td").first).to_have_css("color", "rgb(0, 128, 0)")

    # A click is told to Python between cells, and printed where the callback was given.
    notebook.applet(0).get_by_role("button", name="Save").click()
    expect(notebook.output(5)).to_have_text(["User clicked save\n"])

    # The manifest, typed and as a table.
    assert "'required': ['cells']" in notebook.output_text(6)
    table = notebook.output(7).locator("table")
    expect(table.filter(has_text="commands").locator("code")).to_have_text("setCells(cells: object)")
    expect(table.filter(has_text="state").locator("tr")).to_contain_text(["cells"])
    assert re.search(r"setCells\(cells: object\)\s+Set one or more cell values", notebook.output_text(8))
