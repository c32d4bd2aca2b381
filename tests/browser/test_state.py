"""State both ways between an applet and its kernel: at once, in bursts, offline, in several views, after restarts."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, FrameLocator, Locator, expect

from .applets import applet_cell
from .conftest import OpenNotebook, StartLab
from .notebook import Notebook, applet_in, frame_in
from .test_outages import KEEP_SOCKETS, wait_for_new_socket

# A field that is told, a line per pushed key that is heard, and a count that only localStorage holds.
FORM_JS = """
const updates = [];
word.oninput = () => setAppletState({ word: word.value });
onStateUpdate((data, state) => {
  updates.push(data);
  word.value = state.word ?? '';
  heard.textContent = Object.keys(state).sort().map((key) => `${key}=${JSON.stringify(state[key])}`).join(' ');
});
count.textContent = localStorage.getItem('count') ?? '0';
more.onclick = () => {
  localStorage.setItem('count', Number(count.textContent) + 1);
  count.textContent = localStorage.getItem('count');
};
addEventListener('storage', ({ key, newValue }) => { if (key === 'count') count.textContent = newValue; });
"""
FORM_HTML = "<input id=word> <button id=more>More</button> <output id=count></output> <p id=heard></p>"
FORM = applet_cell("form", html=FORM_HTML, js=FORM_JS)


def word_of(applet: FrameLocator) -> Locator:
    return applet.locator("#word")


def heard_in(applet: FrameLocator) -> Locator:
    return applet.locator("#heard")


# ── from the applet ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_typed_is_in_the_state_and_wakes_a_busy_cell(notebook: Notebook) -> None:
    cell = notebook.run(FORM)
    calls = notebook.run("said = []\nform.on_state(said.append)\nform.on_state(lambda changes: print(changes))")
    waiting = notebook.add_cell("print(form.wait_for_state('word', lambda word: len(word) == 5, timeout=30))")
    notebook.start_cell(waiting)
    notebook.wait_busy()
    word_of(notebook.applet(cell)).press_sequentially("hello")
    notebook.wait_done(cell=waiting)
    assert notebook.output_text(waiting).strip() == "hello"
    assert notebook.value("[dict(form.state), get_applet_state('form')['state']]") == [{"word": "hello"}] * 2
    # Every callback heard of it, between the cells, and prints where it was given.
    expect(notebook.output(calls)).to_contain_text("{'word': 'hello'}")
    assert notebook.value("said[-1]") == {"word": "hello"}

    # Merged, not replaced; a key can become null; what did not change is not told.
    frame = notebook.applet_frame(cell)
    frame.evaluate("setAppletState({ pair: [1, { a: true }] }), setAppletState({ word: null, pair: [1, { a: true }] })")
    assert notebook.value("[form.wait_for_state('word', lambda w: w is None, 10), dict(form.state)][1]") == {
        "word": None,
        "pair": [1, {"a": True}],
    }
    assert notebook.error("form.wait_for_state('word', lambda w: w == 'x', timeout=0.1)")[0] == "CallTimeout"


def test_a_burst_in_the_applet_comes_in_few_messages_and_ends_right(notebook: Notebook) -> None:
    cell = notebook.run(FORM)
    notebook.run("calls = []\nform.on_state(calls.append)")
    notebook.applet_frame(cell).evaluate(
        "for (let i = 1; i <= 20_000; i++) setAppletState({ n: i, [`k${i % 10}`]: i })"
    )
    assert notebook.value("form.wait_for_state('n', lambda n: n == 20_000, 30)") == 20_000
    assert notebook.value("form.state['k9']") == 19_999
    assert notebook.value("len(calls)") < 10


def test_what_is_no_json_is_refused_where_it_is_set(notebook: Notebook) -> None:
    frame = notebook.applet_frame(notebook.run(FORM))
    tried = "made => { try { setAppletState(eval(made)); return 'taken' } catch (error) { return error.message } }"
    assert "give it an object" in frame.evaluate(tried, "[1]")
    assert "big" in frame.evaluate(tried, "({ big: 1n })")
    assert "reserved" in frame.evaluate(tried, "({ __storage: {} })")
    assert frame.evaluate(tried, "({ ['__proto__']: 1, ok: 2 })") == "taken"
    assert notebook.value("form.wait_for_state('ok', timeout=10)") == 2


# ── from the kernel ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_pushes_reach_the_applet_at_once_and_bytes_as_base64(notebook: Notebook) -> None:
    cell = notebook.run(FORM)
    applet = notebook.applet(cell)
    busy = notebook.add_cell(
        "form.push(progress=50, blob=b'\\x00\\xff')\n"
        "form.wait_for_state('word', lambda word: word == 'seen', timeout=30)\n"
        "set_applet_state({'progress': 100}, 'form')"
    )
    notebook.start_cell(busy)
    # While the cell still runs.
    expect(heard_in(applet)).to_have_text('blob="AP8=" progress=50')
    word_of(applet).fill("seen")
    notebook.wait_done(cell=busy)
    expect(heard_in(applet)).to_have_text('blob="AP8=" progress=100 word="seen"')
    # Only what changed is told, and never the applet's own word.
    assert notebook.applet_frame(cell).evaluate("updates") == [{"progress": 50, "blob": "AP8="}, {"progress": 100}]
    assert notebook.value("dict(form.state)") == {"progress": 100, "blob": "AP8=", "word": "seen"}
    assert notebook.error("form.push(bad=object())")[0] == "InvalidArguments"


def test_20_000_pushes_arrive_as_the_final_state(notebook: Notebook) -> None:
    cell = notebook.run(FORM)
    notebook.run(
        "for i in range(20_000):\n    form.push(n=i, **{f'k{i % 7}': i})\nform.push(done=True)\n"
        "expected = dict(form.state)"
    )
    expect(heard_in(notebook.applet(cell))).to_contain_text("done=true")
    frame = notebook.applet_frame(cell)
    assert frame.evaluate("applet.state") == notebook.value("expected")
    assert frame.evaluate("applet.state.n") == 19_999
    assert notebook.value("get_applet_state('form')['state'] == expected") is True
    # In steps that a person could follow, not in 20,000 of them.
    steps = frame.evaluate("updates.map((update) => update.n).filter((n) => n !== undefined)")
    assert steps == sorted(steps)
    assert 1 <= len(steps) < 5_000


def test_the_first_pushes_are_there_when_the_applet_starts(notebook: Notebook) -> None:
    cell = notebook.run(FORM + "\nform.push(early=1)\nform.push(early=2)")
    expect(heard_in(notebook.applet(cell))).to_have_text("early=2")


def test_state_over_http(notebook: Notebook) -> None:
    cell = notebook.run(FORM)
    word_of(notebook.applet(cell)).fill("typed")
    notebook.run("form.wait_for_state('word', lambda word: word == 'typed', 10)")
    query = urlencode({"session": notebook.value("form._session"), "windowId": "form"})
    found = notebook.lab.api(f"applets/api/applet/state?{query}")
    assert (found["state"], found["windowId"], found["hasApplet"]) == ({"word": "typed"}, "form", True)
    assert notebook.lab.api(f"applets/api/applet/state?{query}", method="POST", body={"data": {"by": "http"}})["ok"]
    expect(heard_in(notebook.applet(cell))).to_have_text('by="http" word="typed"')
    assert notebook.value("form.wait_for_state('by', timeout=10)") == "http"


# ── views ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_state_and_local_storage_come_along_when_a_cell_is_moved(notebook: Notebook) -> None:
    cell = notebook.run(FORM)
    notebook.run("form.push(pushed=1)")
    word_of(notebook.applet(cell)).fill("kept")
    notebook.applet(cell).locator("#more").click()
    # At once: what was just set must not be lost with the document.
    notebook.move_cell(cell, "up")
    applet = notebook.applet(cell - 1)
    expect(applet.locator("#count")).to_have_text("1")
    expect(word_of(applet)).to_have_value("kept")
    expect(heard_in(applet)).to_have_text('pushed=1 word="kept"')
    assert notebook.value("dict(form.state)") == {"pushed": 1, "word": "kept"}


def test_two_views_of_one_window_say_the_same(notebook: Notebook) -> None:
    first = notebook.run(FORM)
    aside = notebook.new_output_view(first)
    views = [notebook.applet(first), applet_in(aside)]
    for one, other in (views, views[::-1]):
        value = "one" if one is views[0] else "other"
        word_of(one).fill(value)
        expect(word_of(other)).to_have_value(value)
        one.locator("#more").click()
        expect(other.locator("#count")).to_have_text(one.locator("#count").text_content() or "")
    notebook.run("form.push(both=1)")
    for view in views:
        expect(heard_in(view)).to_have_text('both=1 word="other"')
    # A view does not hear its own words again.
    assert notebook.applet_frame(first).evaluate("updates.filter((u) => 'word' in u)") == [{"word": "other"}]
    assert frame_in(aside).evaluate("updates.filter((u) => 'word' in u)") == [{"word": "one"}]


# ── away and back ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reloads_cuts_and_restarts_keep_the_state(
    open_notebook: OpenNotebook, start_lab: StartLab, context: BrowserContext
) -> None:
    lab = start_lab()
    context.add_init_script(KEEP_SOCKETS)
    notebook = open_notebook([FORM, "form.push(pushed=1)"], lab=lab)
    notebook.run_all()
    word_of(notebook.applet(0)).fill("before")
    notebook.applet(0).locator("#more").click()

    # A page that is reloaded, and a second tab.
    notebook.reload()
    second = notebook.open_in(context.new_page())
    for tab in (notebook, second):
        expect(word_of(tab.applet(0))).to_have_value("before")
        expect(tab.applet(0).locator("#count")).to_have_text("1")
    word_of(second.applet(0)).fill("by the other tab")
    expect(word_of(notebook.applet(0))).to_have_value("by the other tab")
    second.page.close()

    # Offline, both sides go on; neither's words are lost.
    context.set_offline(True)
    notebook.page.evaluate("sockets[0].close()")
    notebook.page.wait_for_function("sockets[0].readyState === WebSocket.CLOSED")
    word_of(notebook.applet(0)).fill("offline")
    session = urlencode({"session": notebook.path, "windowId": "form"})
    lab.api(f"applets/api/applet/state?{session}", method="POST", body={"data": {"pushed": 2}})
    context.set_offline(False)
    wait_for_new_socket(notebook.page)
    expect(heard_in(notebook.applet(0))).to_contain_text("pushed=2")
    expect(word_of(notebook.applet(0))).to_have_value("offline")
    assert notebook.value("[form.wait_for_state('word', lambda w: w == 'offline', 20), dict(form.state)][1]") == {
        "pushed": 2,
        "word": "offline",
    }

    # A new server knows what the page knows.
    lab.restart()
    notebook.page.wait_for_function("sockets.length > 2 && sockets.at(-1).readyState === WebSocket.OPEN")
    word_of(notebook.applet(0)).fill("after")
    notebook.start_kernel()
    notebook.run("from jupyter_applets import *\nset_applet_state({'pushed': 3}, 'form')")
    assert notebook.value("get_applet_state('form')['state']") == {"pushed": 3, "word": "after"}
    expect(heard_in(notebook.applet(0))).to_contain_text("pushed=3")
    expect(notebook.applet(0).locator("#count")).to_have_text("1")
