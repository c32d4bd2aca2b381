"""Kernel, server or connection go away and come back. The applet stays on the screen, as it was, and answers again."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from .applets import COUNTER, NOTE
from .conftest import NewContext, OpenNotebook, StartLab
from .notebook import Notebook
from .test_views import runs_in

MARK = "window.marker = 'the same document'"

# Keeps hold of the page's own sockets, so that a test can cut one. Nothing else of them is changed.
KEEP_SOCKETS = """
if (window === window.top) {
  window.sockets = [];
  const Real = window.WebSocket;
  window.WebSocket = class WebSocket extends Real {
    constructor(...args) {
      super(...args);
      if (this.url.includes('/applets/ws/')) window.sockets.push(this);
    }
  };
}
"""


def is_same_document(notebook: Notebook, cell: int = 0) -> bool:
    return bool(notebook.applet_frame(cell).evaluate("window.marker") == "the same document")


def wait_for_new_socket(page: Page) -> None:
    page.wait_for_function("sockets.length > 1 && sockets.at(-1).readyState === WebSocket.OPEN")


# ── the kernel ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_restarted_kernel_can_query_the_applet_that_stayed(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook([COUNTER, "counter.command('add', by=5)"])
    notebook.run_all()
    notebook.applet_frame(0).evaluate(MARK)
    notebook.restart_kernel()
    expect(notebook.applet(0).locator("#total")).to_have_text("5")

    # The new kernel knows no Applet; by its window's name it reaches what is on the screen, with no wait.
    notebook.run("from jupyter_applets import app_command, app_query")
    assert notebook.value("[app_query('counter', 'count'), app_command('counter', 'add', {'by': 2})]") == [5, 7]
    assert is_same_document(notebook)
    assert runs_in(notebook.applet_frame(0)) == [(5, False), (2, False)]

    # The cell run again takes the window over: a new applet, without what the old one was told.
    notebook.run_cell(0)
    expect(notebook.applet(0).locator("#total")).to_have_text("0")
    assert notebook.value("counter.command('add', by=1)") == 1


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_restarted_server_is_told_of_the_applet_that_stayed(
    open_notebook: OpenNotebook, start_lab: StartLab, context: BrowserContext
) -> None:
    lab = start_lab()
    context.add_init_script(KEEP_SOCKETS)
    notebook = open_notebook([NOTE, COUNTER, "counter.command('add', by=5)"], lab=lab)
    notebook.run_all()
    for cell in (0, 1):
        notebook.applet_frame(cell).evaluate(MARK)
    notebook.applet(0).locator("textarea").fill("typed before")
    notebook.applet_frame(0).wait_for_function("window.kept === 'typed before'")

    lab.restart()
    wait_for_new_socket(notebook.page)
    notebook.start_kernel()
    notebook.run("from jupyter_applets import app_command, app_query")
    assert notebook.value("[app_query('note', 'text'), app_query('counter', 'count')]") == ["typed before", 5]
    assert is_same_document(notebook, 0)
    assert is_same_document(notebook, 1)
    assert runs_in(notebook.applet_frame(1)) == [(5, False)]

    # The new server has the page's snapshot too: a cell that is moved now still gets its text back.
    notebook.move_cell(0, "down")
    expect(notebook.applet(1).locator("textarea")).to_have_value("typed before")


# ── the page's connection ────────────────────────────────────────────────────────────────────────────────────────────


def test_cut_page_socket_comes_back_without_a_remount_or_a_replay(
    open_notebook: OpenNotebook, context: BrowserContext
) -> None:
    context.add_init_script(KEEP_SOCKETS)
    notebook = open_notebook([COUNTER, NOTE, "counter.command('add', by=5)"])
    notebook.run_all()
    # One socket for both applets of the page.
    assert notebook.page.evaluate("sockets.length") == 1
    notebook.applet_frame(0).evaluate(MARK)

    notebook.page.evaluate("sockets[0].close()")
    wait_for_new_socket(notebook.page)
    assert notebook.value("[counter.query('count'), counter.command('add', by=2)]") == [5, 7]
    assert notebook.page.evaluate("sockets.length") == 2
    assert is_same_document(notebook)
    assert runs_in(notebook.applet_frame(0)) == [(5, False), (2, False)]


def test_page_that_was_offline_gets_only_what_it_missed(open_notebook: OpenNotebook, new_context: NewContext) -> None:
    away, here = new_context(), new_context()
    away.add_init_script(KEEP_SOCKETS)
    first = open_notebook([COUNTER, "counter.command('add', by=1)"], context=away)
    first.run_all()
    first.applet_frame(0).evaluate(MARK)
    second = first.open_in(here.new_page())
    expect(second.applet(0).locator("#total")).to_have_text("1")

    away.set_offline(True)
    first.page.evaluate("sockets[0].close()")
    # The other page answers meanwhile. The applet that is cut off is still there, and still at 1.
    first.page.wait_for_function("sockets[0].readyState === WebSocket.CLOSED")
    assert second.value("[counter.command('add', by=by) for by in (2, 4)]") == [3, 7]
    assert first.applet(0).locator("#total").text_content() == "1"

    away.set_offline(False)
    wait_for_new_socket(first.page)
    expect(first.applet(0).locator("#total")).to_have_text("7")
    assert is_same_document(first)
    assert runs_in(first.applet_frame(0)) == [(1, False), (2, True), (4, True)]
    assert runs_in(second.applet_frame(0)) == [(1, True), (2, False), (4, False)]


# ── no extension ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_the_extension_awaiting_works_and_blocking_says_so_at_once(
    open_notebook: OpenNotebook, start_lab: StartLab
) -> None:
    notebook = open_notebook([COUNTER, NOTE], lab=start_lab(extension=False))
    notebook.run_all()
    expect(notebook.applet(0).locator("#total")).to_have_text("0")

    assert notebook.value("[await counter.acommand('add', by=3), await counter.aquery('count')]") == [3, 3]
    assert notebook.value("sorted(await counter.aquery('manifest'))") == ["appId", "commands", "name", "state"]
    # In the very cell that displays it, too.
    shown = notebook.run(COUNTER.replace("counter", "another") + "\nprint(await another.acommand('add', by=1))")
    assert "1" in notebook.output_text(shown)

    for call, instead in [
        ("counter.query('count')", "await <applet>.aquery('count')"),
        ("counter.command('add', by=1)", "await <applet>.acommand('add'"),
        ("app_query('counter', 'count')", "await"),
    ]:
        timed = f"import time\nbegan = time.monotonic()\ntry: {call}\nfinally: took = time.monotonic() - began"
        name, message = notebook.error(timed)
        assert name == "BlockingCallUnavailable"
        assert instead in message
        assert notebook.value("took") < 1

    assert notebook.error("await counter.aquery('counts')")[0] == "UnknownStateKey"
    assert notebook.error("await counter.acommand('fail', by=0)")[0] == "HandlerFailed"

    # Moving, replay, snapshots and the applet's console are the same here.
    notebook.applet(1).locator("textarea").fill("typed")
    notebook.applet_frame(1).wait_for_function("window.kept === 'typed'")
    notebook.move_cell(0, "down")
    expect(notebook.applet(1).locator("#total")).to_have_text("3")
    assert runs_in(notebook.applet_frame(1)) == [(3, True)]
    notebook.move_cell(0, "down")
    expect(notebook.applet(1).locator("textarea")).to_have_value("typed")
    assert notebook.value("app_query('counter', '__console')[0]['level']") == "error"

    # A comm does not tell that a page is gone: calls must go to the one that is there.
    notebook.reload()
    expect(notebook.applet(0).locator("#total")).to_have_text("3")
    assert notebook.value("[await counter.acommand('add', by=4), await counter.aquery('count')]") == [7, 7]
