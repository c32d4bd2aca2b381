"""Views come and go: cells move, outputs show twice, themes switch. The applet is as it was; a command runs once."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Frame, expect

from .applets import COUNTER, COUNTER_HTML, COUNTER_JS, NOTE, applet_cell
from .conftest import OpenNotebook
from .notebook import Notebook, applet_in, frame_in


def runs_in(frame: Frame) -> list[Any]:
    """The commands that a counter's document has run: how much each added, and whether it was a replay."""
    return [(run["by"], run["replayed"]) for run in frame.evaluate("runs")]


# ── a cell is moved ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_moved_cell_gets_its_commands_replayed_in_order_and_by_their_policy(notebook: Notebook) -> None:
    cell = notebook.run(COUNTER)
    notebook.run(
        "counter.command('add', by=1)\n"
        "counter.command('announce', by=10)\n"  # replay: 'never'
        "counter.command('jump', by=100)\n"  # replay: 'last', and not the last
        "counter.command('jump', by=200)\n"
        "counter.command('add', by=2)"
    )
    assert notebook.error("counter.command('fail', by=5)")[0] == "HandlerFailed"
    assert notebook.value("counter.query('count')") == 318

    notebook.move_cell(cell, "up")
    expect(notebook.applet(cell - 1).locator("#total")).to_have_text("203")
    assert runs_in(notebook.applet_frame(cell - 1)) == [(1, True), (200, True), (2, True)]

    # What comes next is new again, and is itself remembered.
    assert notebook.value("counter.command('add', by=1000)") == 1203
    notebook.move_cell(cell - 1, "down")
    expect(notebook.applet(cell).locator("#total")).to_have_text("1203")
    assert notebook.value("[run['replayed'] for run in counter.query('runs')]") == [True] * 4


def test_query_made_while_a_cell_moves_waits_until_the_applet_is_restored(notebook: Notebook) -> None:
    cell = notebook.run(COUNTER)
    notebook.run("for _ in range(20): counter.command('add', by=1)")
    asking = notebook.add_cell(
        "import time\n"
        "seen, end = set(), time.monotonic() + 20\n"
        "while counter.query('runs')[0]['replayed'] is False and time.monotonic() < end:\n"
        "    seen.add(counter.query('count'))\n"
        "print(seen | {counter.query('count')})"
    )
    notebook.start_cell(asking)
    notebook.wait_busy()
    notebook.move_cell(cell, "up")
    notebook.wait_done(cell=asking, check=False)
    text = notebook.output_text(asking)
    # A question under way in that moment may be told that its view went away; a half-restored applet is never read.
    assert text.strip() == "{20}" or "ViewGone" in text


def test_snapshot_brings_back_what_was_typed(notebook: Notebook) -> None:
    cell = notebook.run(NOTE)
    notebook.run("note.command('append', more='from Python, ')")
    text = notebook.applet(cell).locator("textarea")
    text.press_sequentially("by hand")
    expect(text).to_have_value("from Python, by hand")
    notebook.applet_frame(cell).wait_for_function("window.kept === 'from Python, by hand'")

    notebook.move_cell(cell, "up")
    expect(notebook.applet(cell - 1).locator("textarea")).to_have_value("from Python, by hand")
    # A command after the snapshot is replayed on top of it, one before it is not run again.
    assert notebook.value("note.query('hydrated')") == 1
    notebook.run("note.command('append', more='!')")
    notebook.move_cell(cell - 1, "down")
    expect(notebook.applet(cell).locator("textarea")).to_have_value("from Python, by hand!")


# ── an output is shown twice ─────────────────────────────────────────────────────────────────────────────────────────


def test_command_runs_once_however_often_the_output_is_shown(notebook: Notebook) -> None:
    cell = notebook.run(COUNTER)
    again = notebook.run("display(counter)")
    aside = notebook.new_output_view(cell)
    totals = [
        notebook.applet(cell).locator("#total"),
        notebook.applet(again).locator("#total"),
        applet_in(aside).locator("#total"),
    ]
    for total in totals:
        expect(total).to_have_text("0")
    assert notebook.value("[counter.command('add', by=by) for by in (1, 2, 3)]") == [1, 3, 6]
    for total in totals:
        expect(total).to_have_text("6")

    frames = [notebook.applet_frame(cell), notebook.applet_frame(again), frame_in(aside)]
    runs = [runs_in(frame) for frame in frames]
    for by in (1, 2, 3):
        assert sorted(replayed for run in runs for (n, replayed) in run if n == by) == [False, True, True]
    # All three ran in the same view: the pinned one.
    assert sorted(run[0][1] for run in runs) == [False, True, True]

    # The view that answered goes away: another takes over, with everything in it, and nothing runs again.
    pinned = [run[0][1] for run in runs].index(False)
    assert pinned == 0
    notebook.clear()
    expect(totals[2]).to_have_text("6")
    assert notebook.value("[counter.query('count'), counter.command('add', by=4)]") == [6, 10]
    expect(totals[2]).to_have_text("10")
    assert runs_in(frame_in(aside)) == [(1, True), (2, True), (3, True), (4, False)]


def test_window_id_used_again_takes_the_window_over(notebook: Notebook) -> None:
    first = notebook.run(COUNTER)
    notebook.run("counter.command('add', by=1)")
    second = notebook.run(applet_cell("counter", html="<b>second</b>" + COUNTER_HTML, js=COUNTER_JS))
    # Content replaced and log cleared, wherever it is shown.
    for cell in (first, second):
        expect(notebook.applet(cell).locator("b")).to_have_text("second")
        expect(notebook.applet(cell).locator("#total")).to_have_text("0")
    assert notebook.value("counter.query('runs')") == []


def test_new_content_and_a_closed_window_show_at_once(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("closing", html=COUNTER_HTML, js=COUNTER_JS))
    notebook.run("closing.command('add', by=1)\nclosing.set_content(html='<i>new</i><output id=total></output>')")
    expect(notebook.applet(cell).locator("i")).to_have_text("new")
    assert notebook.value("[closing.query('count'), closing.command('add', by=7)]") == [0, 7]
    notebook.applet_frame(cell).evaluate("fetch('https://example.invalid').catch(() => null)")
    bar = notebook.cell(cell).get_by_role("button", name="Allow")
    expect(bar).to_be_visible()
    notebook.run("close_window('closing')")
    expect(notebook.cell(cell).get_by_text("This applet was closed.")).to_be_visible()
    expect(bar).to_have_count(0)
    assert notebook.error("app_query('closing', 'count')")[0] == "WindowNotFound"


# ── the theme ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_theme_reaches_the_applet_and_changes_live(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("themed", html="<p>Look", css="p { color: var(--jp-ui-font-color1) }"))
    html = notebook.applet(cell).locator("html")
    expect(html).to_have_css("color-scheme", "light")
    expect(html).to_have_css("background-color", "rgb(255, 255, 255)")
    frame = notebook.applet_frame(cell)
    frame.evaluate("window.marker = 'same document'")
    light = frame.evaluate("getComputedStyle(document.querySelector('p')).color")

    notebook.set_theme("JupyterLab Dark")
    try:
        expect(html).to_have_css("color-scheme", "dark")
        expect(html).not_to_have_css("background-color", "rgb(255, 255, 255)")
        expect(notebook.applet(cell).locator("p")).not_to_have_css("color", light)
        page = notebook.page.evaluate("getComputedStyle(document.body).getPropertyValue('--jp-layout-color0').trim()")
        inside = "getComputedStyle(document.documentElement).getPropertyValue('--jp-layout-color0').trim()"
        assert frame.evaluate(inside) == page
        assert frame.evaluate("window.marker") == "same document"
    finally:
        notebook.set_theme("JupyterLab Light")
    expect(html).to_have_css("color-scheme", "light")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_applet_opened_under_a_theme_starts_in_it(notebook: Notebook, theme: Any) -> None:
    notebook.set_theme(theme)
    try:
        cell = notebook.run(
            applet_cell("born", html="<p>x", js="window.born = getComputedStyle(document.documentElement).colorScheme")
        )
        expect(notebook.applet(cell).locator("p")).to_be_visible()
        assert notebook.applet_frame(cell).evaluate("window.born") == theme.split()[1].lower()
    finally:
        notebook.set_theme("JupyterLab Light")


# ── tabs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_tabs_on_one_notebook_run_a_command_once(open_notebook: OpenNotebook) -> None:
    first = open_notebook([COUNTER, "counter.command('add', by=1)", "counter.command('add', by=2)"])
    first.run_cell(0)
    first.run_cell(1)
    second = first.open_in(first.page.context.new_page())
    # The new tab shows the applet as it is.
    expect(second.applet(0).locator("#total")).to_have_text("1")
    first.run_cell(2)
    for tab in (first, second):
        expect(tab.applet(0).locator("#total")).to_have_text("3")
    assert runs_in(first.applet_frame(0)) == [(1, False), (2, False)]
    assert runs_in(second.applet_frame(0)) == [(1, True), (2, True)]

    # The tab that answered is closed: the other one answers, with the same state.
    first.page.close()
    assert second.value("counter.command('add', by=4)") == 7
    assert runs_in(second.applet_frame(0)) == [(1, True), (2, True), (4, False)]


def test_reloaded_page_shows_the_applet_as_it_was(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook([COUNTER, NOTE, "counter.command('add', by=5)"])
    notebook.run_all()
    text = notebook.applet(1).locator("textarea")
    text.fill("typed")
    notebook.applet_frame(1).wait_for_function("window.kept === 'typed'")
    notebook.reload()
    expect(notebook.applet(0).locator("#total")).to_have_text("5")
    expect(notebook.applet(1).locator("textarea")).to_have_value("typed")
    assert notebook.value("[counter.command('add', by=1), counter.query('runs')]") == [
        6,
        [{"by": 5, "replayed": True}, {"by": 1, "replayed": False}],
    ]
