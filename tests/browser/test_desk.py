"""A Desk: a session's windows as tabs. Agents fill it; people choose, close and use, by mouse and by keys."""

from __future__ import annotations

from playwright.sync_api import FrameLocator, Locator, expect

from .notebook import Notebook

CLOSE_ALL = "for window in list_windows(): close_window(window['windowId'], session=window['session'])\n"
TICKING = "<output id=ticks>0</output>"
TICKING_JS = "setInterval(() => { ticks.textContent = Number(ticks.textContent) + 1 }, 20)"


class Desk:
    """One Desk in a cell's output, with the names that a person would give its parts."""

    def __init__(self, notebook: Notebook, cell: int) -> None:
        self.notebook = notebook
        self.element: Locator = notebook.cell(cell).locator(".jupyter-applet-desk")
        self.tabs = self.element.get_by_role("tab")
        self.selected = self.element.get_by_role("tab", selected=True)

    @property
    def front(self) -> FrameLocator:
        """The document of the window in front."""
        panel = self.element.locator(".jupyter-applet-panel:not([hidden])")
        return panel.locator("iframe").content_frame.locator("iframe").content_frame

    def tab(self, title: str) -> Locator:
        return self.element.get_by_role("tab", name=title)

    def close(self, title: str) -> None:
        self.element.get_by_role("button", name=f"Close {title}").click()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.notebook.page.keyboard.press(key)


def open_desk(notebook: Notebook) -> Desk:
    """With nothing on it."""
    return Desk(notebook, notebook.run(CLOSE_ALL + "display(Desk())"))


# ── what agents open ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_empty_desk_says_what_to_do_and_is_empty_again_at_the_end(notebook: Notebook) -> None:
    desk = open_desk(notebook)
    expect(desk.element.get_by_role("status")).to_contain_text("No applet is open.")
    expect(desk.tabs).to_have_count(0)
    assert notebook.value("set_applet_content('<p>Hello', title='First')") == {"windowId": "applet-1", "shown": True}
    expect(desk.front.locator("p")).to_have_text("Hello")
    expect(desk.element.get_by_role("status")).to_have_count(0)
    desk.close("First")
    expect(desk.element.get_by_role("status")).to_contain_text("No applet is open.")
    assert notebook.value("list_windows()") == []


def test_what_is_set_or_loaded_comes_to_the_front(notebook: Notebook) -> None:
    desk = open_desk(notebook)
    notebook.run("set_applet_content('<p>one', title='One', window_id='one')")
    notebook.run("set_applet_content('<p>two', title='Two', window_id='two')")
    expect(desk.selected).to_have_text("Two")
    expect(desk.front.locator("p")).to_have_text("two")
    notebook.run("set_applet_content('<p>one again', title='One', window_id='one')")
    expect(desk.selected).to_have_text("One")
    expect(desk.front.locator("p")).to_have_text("one again")
    assert notebook.value("load_applet('calculator', 'calculator')")["windowId"] == "calculator"
    expect(desk.selected).to_have_text("Calculator")
    expect(desk.front.locator(".calculator")).to_be_visible()
    expect(desk.tabs).to_have_text(["One", "Two", "Calculator"])

    # Without a window's name, what is set goes to the one in front.
    desk.tab("Two").click()
    expect(desk.selected).to_have_text("Two")
    expect(desk.front.locator("p")).to_have_text("two")
    told = notebook.value("set_applet_content('<p>anew', title='Renamed')")
    assert told == {"windowId": "two", "shown": True, "replaced": "Two"}
    expect(desk.front.locator("p")).to_have_text("anew")
    expect(desk.tabs).to_have_text(["One", "Renamed", "Calculator"])
    assert notebook.value("get_applet_state()['appletTitle']") == "Renamed"


def test_windows_keep_running_out_of_sight(notebook: Notebook) -> None:
    # Few cells with little output below it: what is scrolled out of sight JupyterLab takes out of the page.
    desk = open_desk(notebook)
    notebook.run(f"_ = set_applet_content({TICKING!r}, {TICKING_JS!r}, title='Clock', window_id='clock')")
    desk.front.locator("#ticks").evaluate("element => { element.dataset.same = 'yes' }")
    read = "int(get_applet_state('clock', selector='#ticks', format='text'))"
    notebook.run(
        "_ = set_applet_content('<p>other', title='Other', window_id='other')\n"
        f"import time\nbefore, end = {read}, time.monotonic() + 20\n"
        f"while {read} == before and time.monotonic() < end: pass\nassert {read} > before"
    )
    expect(desk.front.locator("p")).to_have_text("other")
    desk.tab("Clock").click()
    # The same document, not a new one.
    expect(desk.front.locator("#ticks[data-same]")).to_be_visible()


def test_applet_fills_the_desk_and_what_is_taller_scrolls(notebook: Notebook) -> None:
    desk = open_desk(notebook)
    notebook.run("set_applet_content('<div id=whole style=\"height: 100%\">', title='Whole')")
    sizes = desk.front.locator("#whole").evaluate("e => [e.getBoundingClientRect().bottom, innerHeight]")
    # Down to the padding, with nothing to scroll.
    assert sizes[1] - sizes[0] == 8
    assert desk.front.locator("html").evaluate("e => e.scrollHeight - innerHeight") == 0
    notebook.run("set_applet_content('<div id=tall style=\"height: 2000px\">', title='Tall')")
    assert desk.front.locator("html:has(#tall)").evaluate("e => e.scrollHeight") == 2016


def test_desk_shown_later_has_what_was_opened_before_and_two_desks_agree(notebook: Notebook) -> None:
    answer = notebook.run(
        CLOSE_ALL + "answer = set_applet_content('<input id=word>', 'word.oninput = () => "
        "setAppletState({ word: word.value }); onStateUpdate(({ word: w }) => { word.value = w })', "
        "title='Word', window_id='word')\nprint(answer)"
    )
    # Nobody sees it yet, and the caller is told so.
    assert "'shown': False" in notebook.output_text(answer)
    assert "Desk()" in notebook.output_text(answer)
    first, second = (Desk(notebook, notebook.run("display(Desk(height=200))")) for _ in range(2))
    for desk in (first, second):
        expect(desk.selected).to_have_text("Word")
    first.front.locator("#word").fill("both")
    expect(second.front.locator("#word")).to_have_value("both")
    notebook.run("set_applet_content('<p>next', title='Next', window_id='next')")
    for desk in (first, second):
        expect(desk.selected).to_have_text("Next")
    first.tab("Word").click()
    expect(second.selected).to_have_text("Word")
    notebook.run("close_window('word')")
    for desk in (first, second):
        expect(desk.tabs).to_have_text(["Next"])
        expect(desk.front.locator("p")).to_have_text("next")


def test_an_applets_own_output_and_the_desk_show_one_window(notebook: Notebook) -> None:
    desk = open_desk(notebook)
    cell = notebook.run("own = Applet('<p>mine', title='Mine', window_id='mine')\ndisplay(own)")
    expect(notebook.applet(cell).locator("p")).to_have_text("mine")
    expect(desk.tab("Mine")).to_be_visible()
    # A notebook's own applet is not taken by an agent that names no window.
    assert notebook.value("set_applet_content('<p>agent', title='Agent')['windowId']") != "mine"
    expect(notebook.applet(cell).locator("p")).to_have_text("mine")
    desk.tab("Mine").click()
    expect(desk.front.locator("p")).to_have_text("mine")
    # Turned to by the person, it is what the agent is to change; the widget follows.
    notebook.run("set_applet_content('<p>changed', title='Mine')")
    expect(desk.front.locator("p")).to_have_text("changed")
    expect(notebook.applet(cell).locator("p")).to_have_text("changed")
    assert notebook.value("own.html") == "<p>changed"


# ── by keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_tabs_by_keyboard(notebook: Notebook) -> None:
    desk = open_desk(notebook)
    notebook.run("for n in 'ABC': set_applet_content(f'<p>{n}', title=f'Window {n}', window_id=n)")
    expect(desk.front.locator("p")).to_have_text("C")
    desk.tab("Window C").focus()
    for key, title in [("ArrowRight", "A"), ("ArrowRight", "B"), ("End", "C"), ("Home", "A"), ("ArrowLeft", "C")]:
        desk.press(key)
        expect(desk.selected).to_have_text(f"Window {title}")
        expect(desk.selected).to_be_focused()
        expect(desk.front.locator("p")).to_have_text(title)
    # The notebook's own keys are not meant: no cell was added, none was left.
    desk.press("Delete")
    expect(desk.tabs).to_have_text(["Window A", "Window B"])
    # The focus goes on to a tab, so that the next key is not the notebook's.
    expect(desk.selected).to_be_focused()
    desk.press("Delete")
    expect(desk.tabs).to_have_count(1)
    assert len(notebook.value("list_windows()")) == 1


def test_calculator_in_the_desk_by_keyboard(notebook: Notebook) -> None:
    desk = open_desk(notebook)
    notebook.run("load_applet('calculator')")
    expect(desk.front.locator(".calculator")).to_be_visible()
    # From the tab, the tab key leads into the applet.
    desk.selected.focus()
    desk.press("Tab")
    desk.press(*"6*(3+4)", "Enter")
    expect(desk.front.locator("output")).to_have_text("42")
    window = "list_windows()[0]['windowId']"
    assert notebook.value(f"app_command({window}, 'evaluate', {{'expression': '2+2'}})")["result"] == "4"
    expect(desk.front.locator("output")).to_have_text("4")
