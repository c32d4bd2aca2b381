"""Content that is replaced, that streams, that comes and goes from sight; and what is read from the live document."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from .applets import applet_cell
from .notebook import Notebook

# One pixel, green.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNg+M9QDwADgQGAWjR9awAAAABJRU5ErkJggg=="
WAIT = "import asyncio\nasync with asyncio.timeout(10):\n  while not ({}): await asyncio.sleep(0.01)"


def wait_in_kernel(notebook: Notebook, condition: str) -> None:
    """Until it holds in the kernel, for what comes there by way of page and server."""
    notebook.run(WAIT.format(condition))


def lines_of(notebook: Notebook, variable: str = "app") -> list[str]:
    found: list[str] = notebook.value(f"[line.text for line in {variable}.logs]")
    return found


# ── replaced ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_new_content_is_a_new_document_in_which_nothing_of_the_old_one_runs(notebook: Notebook) -> None:
    old = """
      const word = 'old'; var loose = 1; class Thing {}
      window.addEventListener('message', () => { document.title = 'heard'; });
      document.addEventListener('click', () => setAppletState({ clicked: word }));
      setInterval(() => setAppletState({ ticks: (applet.state.ticks ?? 0) + 1 }), 5);
      onStateUpdate(() => setAppletState({ told: word }));
    """
    cell = notebook.run(applet_cell(html="<p>old", js=old, css="p { color: rgb(1, 2, 3) }"))
    notebook.run("app.wait_for_state('ticks', lambda n: n > 2, timeout=10)")
    new = """
      const word = 'new'; class Thing {}
      applet.app.register({ appId: 'new', state: { word: { handler: () => [word, typeof loose] } } });
    """
    notebook.run(f"app.set_content(html='<p>new', js={new!r}, css='', title='New')")
    expect(notebook.applet(cell).locator("p")).to_have_text("new")
    expect(notebook.applet(cell).locator("p")).not_to_have_css("color", "rgb(1, 2, 3)")
    assert notebook.value("app.query('word')") == ["new", "undefined"]
    notebook.applet(cell).locator("p").click()
    notebook.run("app.push(a=1)")
    # A round trip later, still nothing of the old one.
    assert notebook.value("[app.query('word')[0], get_applet_state('app')['state'], dict(app.state)]") == [
        "new",
        {"a": 1},
        {"a": 1},
    ]
    assert notebook.value("get_applet_state('app')['appletTitle']") == "New"


def test_parts_that_are_not_given_stay(notebook: Notebook) -> None:
    cell = notebook.run(
        applet_cell(html="<p>one", js="document.body.append(' js ran')", css="p { color: rgb(1, 2, 3) }")
    )
    notebook.run("app.set_content(html='<p>two')")
    expect(notebook.applet(cell).locator("body")).to_contain_text("two")
    expect(notebook.applet(cell).locator("body")).to_contain_text("js ran")
    expect(notebook.applet(cell).locator("p")).to_have_css("color", "rgb(1, 2, 3)")
    notebook.applet_frame(cell).evaluate("window.marker = 1")
    # A title alone is no new document.
    notebook.run("app.set_content(title='Titled')")
    expect(notebook.cell(cell).locator(".jupyter-applet iframe")).to_have_attribute("title", "Titled")
    assert notebook.applet_frame(cell).evaluate("window.marker") == 1


def test_widget_follows_what_a_tool_sets_in_its_window(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>mine", js="setAppletState({ a: 1 })", title="Mine"))
    notebook.run("app.wait_for_state('a', timeout=10)")
    told = notebook.value(
        "set_applet_content('<p>theirs', js='setAppletState({ b: 2 })', css='p { margin: 3px }', "
        "title='Theirs', window_id='app')"
    )
    assert told == {"windowId": "app", "shown": True, "replaced": "Mine"}
    expect(notebook.applet(cell).locator("p")).to_have_text("theirs")
    expect(notebook.applet(cell).locator("p")).to_have_css("margin-left", "3px")
    assert notebook.value("app.wait_for_state('b', timeout=10)") == 2
    assert notebook.value("[app.html, app.js, app.css, app.title, dict(app.state)]") == [
        "<p>theirs",
        "setAppletState({ b: 2 })",
        "p { margin: 3px }",
        "Theirs",
        {"b": 2},
    ]
    # The widget's own word is the last again, and what is shown anew is the same.
    notebook.run("app.html = '<p>mine again'")
    again = notebook.run("app")
    for place in (cell, again):
        expect(notebook.applet(place).locator("p")).to_have_text("mine again")


# ── streamed ─────────────────────────────────────────────────────────────────────────────────────────────────────────

STREAM = """
import asyncio, pathlib
gates = [pathlib.Path(name) for name in ("gate-1", "gate-2")]
for gate in gates: gate.unlink(missing_ok=True)
async def opened(gate):
    async with asyncio.timeout(20):
        while not gate.exists(): await asyncio.sleep(0.01)
async with app.stream_html() as stream:
    await stream.write("<table id=t><tr><td>first</td></tr>")
    await stream.write("<img src=x onerror='console.log(`handler ran`)'>")
    await opened(gates[0])
    await stream.write("<tr><td>sec")
    await stream.write("ond</td></tr></table><script>console.log('inline ran'); window.inline = 1</scr")
    await stream.write("ipt><button onclick='out.textContent = `clicked`'>Go</button><output id=out></output>")
    await opened(gates[1])
    {last}
"""


def test_streamed_html_shows_as_it_comes_and_its_scripts_run_once_at_the_end(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>before", js="console.log('js ran, inline ' + window.inline);"))
    wait_in_kernel(notebook, "app.logs")
    notebook.run("app.logs.clear()")
    streaming = notebook.add_cell(STREAM.format(last="pass"))
    notebook.start_cell(streaming)
    applet = notebook.applet(cell)
    expect(applet.locator("#t td")).to_have_text(["first"])
    expect(applet.locator("body")).not_to_contain_text("before")
    (notebook.lab.root / "gate-1").touch()
    expect(applet.locator("#t td")).to_have_text(["first", "second"])
    expect(applet.get_by_role("button")).to_be_visible()
    # Not even a handler runs while it is not whole.
    applet.get_by_role("button").click()
    assert notebook.applet_frame(cell).evaluate("[window.inline ?? null, out.textContent]") == [None, ""]
    (notebook.lab.root / "gate-2").touch()
    notebook.wait_done(cell=streaming)
    notebook.applet_frame(cell).wait_for_function("window.inline === 1")
    applet.get_by_role("button").click()
    expect(applet.locator("output")).to_have_text("clicked")
    wait_in_kernel(notebook, "any('js ran' in line.text for line in app.logs)")
    lines = lines_of(notebook)
    assert [line for line in lines if "ran" in line and "handler" not in line] == ["inline ran", "js ran, inline 1"]
    assert notebook.value("[app.html.count('second'), app.html.endswith('</output>')]") == [1, True]


def test_stream_that_fails_keeps_what_was_written(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>before"))
    for gate in ("gate-1", "gate-2"):
        (notebook.lab.root / gate).touch()
    source = STREAM.format(last="raise ValueError('cut off')").replace("gate.unlink(missing_ok=True)", "pass")
    assert notebook.error(source) == ("ValueError", "cut off")
    expect(notebook.applet(cell).locator("#t td")).to_have_text(["first", "second"])
    notebook.applet_frame(cell).wait_for_function("window.inline === 1")
    notebook.run("app.set_content(html='<p>after')")
    expect(notebook.applet(cell).locator("p")).to_have_text("after")


def test_view_that_opens_in_mid_stream_shows_all_of_it(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>before"))
    source = (
        "stream = app.stream_html()\nawait stream.__aenter__()\n"
        "for n in range(50): await stream.write(f'<i>{n} Ä😀</i>')"
    )
    notebook.run(source)
    expect(notebook.applet(cell).locator("i")).to_have_count(50)
    late = notebook.run("app")
    expect(notebook.applet(late).locator("i")).to_have_count(50)
    notebook.run("await stream.write('<i>last</i>')\nawait stream.__aexit__(None, None, None)")
    for place in (cell, late):
        expect(notebook.applet(place).locator("i")).to_have_count(51)
        expect(notebook.applet(place).locator("i").nth(49)).to_have_text("49 Ä😀")


# ── its end, and its being seen ──────────────────────────────────────────────────────────────────────────────────────

CLEANING = """
let times = 0;
applet.onCleanup(() => { times += 1; setAppletState({ cleaned: times }); });
applet.onCleanup(() => { throw new Error('in cleanup'); });
applet.onCleanup(() => { localStorage.kept = 'too'; setAppletState({ last: 'words', at: window.version }); });
const taken = applet.onCleanup(() => setAppletState({ taken: true }));
taken();
window.version = 'one';
setAppletState({ started: true });
"""
CLEANED = {"cleaned": 1, "last": "words", "started": True}


def test_cleanup_runs_once_when_the_output_is_cleared(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>here", js=CLEANING))
    notebook.run("app.wait_for_state('started', timeout=10)")
    notebook.command("notebook:clear-cell-output", cell=cell)
    assert notebook.value("app.wait_for_state('last', timeout=10)") == "words"
    assert notebook.value("dict(app.state)") == {**CLEANED, "at": "one"}
    again = notebook.run("app")
    expect(notebook.applet(again).locator("p")).to_be_visible()
    assert notebook.applet_frame(again).evaluate("[localStorage.kept, applet.state.last]") == ["too", "words"]


def test_cleanup_runs_when_the_applet_is_edited_and_its_state_is_kept(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>here", js=CLEANING) + "\napp.save('cleaned')")
    notebook.run("app.wait_for_state('started', timeout=10)")
    script = notebook.lab.root / "applets" / "cleaned" / "script.js"
    script.write_text("document.querySelector('p').textContent = JSON.stringify(applet.state);")
    expect(notebook.applet(cell).locator("p")).to_contain_text("started")
    assert notebook.value("app.wait_for_state('last', timeout=10)") == "words"
    assert notebook.value("dict(app.state)") == {**CLEANED, "at": "one"}


def test_last_words_of_a_replaced_applet_are_not_the_next_ones_state(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>here", js=CLEANING))
    notebook.run("app.wait_for_state('started', timeout=10)")
    register = "applet.app.register({ appId: 'x', state: { s: { handler: () => applet.state } } });"
    notebook.run(f"app.set_content(html='<b>next', js={register!r})")
    expect(notebook.applet(cell).locator("b")).to_be_visible()
    assert notebook.value("[app.query('s'), dict(app.state), get_applet_state('app')['state']]") == [{}, {}, {}]


VISIBILITY = """
const seen = [];
applet.onVisibilityChange(() => { throw new Error('in callback'); });
applet.onVisibilityChange((visible) => { seen.push([visible, applet.visible]); setAppletState({ seen }); });
setAppletState({ seen });
"""


def expect_seen(notebook: Notebook, window: str, *expected: bool) -> None:
    condition = f"get_applet_state({window!r})['state'].get('seen') == {[[one, one] for one in expected]}"
    wait_in_kernel(notebook, condition)


def test_applet_is_told_when_it_is_scrolled_out_of_sight_and_back(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p>here", js=VISIBILITY))
    expect(notebook.applet(cell).locator("p")).to_be_in_viewport()
    tall = notebook.run(
        "from IPython.display import HTML\nHTML('<div style=\"height: 3000px\"></div><p id=foot>foot</p>')"
    )
    notebook.cell(tall).locator("#foot").scroll_into_view_if_needed()
    notebook.applet_frame(cell).wait_for_function("applet.visible === false")
    notebook.cell(cell).locator(".jupyter-applet").scroll_into_view_if_needed()
    notebook.applet_frame(cell).wait_for_function("applet.visible === true")
    seen = notebook.applet_frame(cell).evaluate("seen")
    assert [False, False] in seen
    assert seen[-1] == [True, True]
    # Told only of changes.
    assert all(one != other for one, other in pairwise(seen))


def test_applet_is_told_when_its_tab_of_the_desk_or_of_lab_is_left(notebook: Notebook) -> None:
    desk = notebook.run("desk = Desk()\ndesk")
    place = notebook.cell(desk)
    notebook.run(f"set_applet_content('<p>one', js={VISIBILITY!r}, title='One', window_id='one')")
    expect(place.get_by_role("tab", name="One")).to_be_visible()
    place.scroll_into_view_if_needed()
    wait_in_kernel(notebook, "'seen' in get_applet_state('one')['state']")
    before: list[Any] = notebook.value("get_applet_state('one')['state']['seen']")
    notebook.run("set_applet_content('<p>two', title='Two', window_id='two')")
    place.scroll_into_view_if_needed()
    expect(place.get_by_role("tab", name="Two")).to_be_visible()
    notebook.run(WAIT.format("get_applet_state('one')['state']['seen'][-1:] == [[False, False]]"))
    place.get_by_role("tab", name="One").click()
    notebook.run(WAIT.format("get_applet_state('one')['state']['seen'][-1:] == [[True, True]]"))
    assert len(notebook.value("get_applet_state('one')['state']['seen']")) > len(before)
    place.scroll_into_view_if_needed()
    notebook.command("launcher:create")
    notebook.page.wait_for_function("document.querySelector('.jp-Launcher')")
    notebook.run(WAIT.format("get_applet_state('one')['state']['seen'][-1:] == [[False, False]]"))
    notebook.run("close_window('one'); close_window('two')")


# ── the live document ────────────────────────────────────────────────────────────────────────────────────────────────

FORM = """
<h1 class="big red">Title <b>bold</b></h1>
<input id=name name=name value=start> <input type=checkbox id=on checked aria-label="On">
<input type=password id=secret value=hidden>
<select id=choice><option>a<option selected>b</select>
<ul><li data-n=1>one</li><li data-n=2>two <span style="display: none">unseen</span></li></ul>
"""


def test_live_document_is_read_as_json_and_as_text(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html=FORM))
    # No applet has registered anything: the document can be read all the same, and as soon as it is there.
    first = notebook.value("get_applet_state('app', selector='h1')")
    assert first == [{"tag": "h1", "class": "big red", "text": "Title bold"}]
    notebook.applet(cell).locator("#name").fill("typed")
    assert notebook.value("get_applet_state('app', selector='#name, #on, #choice')") == [
        {"tag": "input", "id": "name", "text": "", "value": "typed", "attributes": {"name": "name"}},
        {
            "tag": "input",
            "id": "on",
            "text": "",
            "value": "on",
            "checked": True,
            "attributes": {"type": "checkbox", "aria-label": "On"},
        },
        {"tag": "select", "id": "choice", "text": "a\nb", "value": "b"},
    ]
    assert notebook.value("get_applet_state('app', selector='li', format='text')") == "one\ntwo"
    assert "hidden" not in str(notebook.value("get_applet_state('app', selector='#secret')"))
    assert notebook.value("get_applet_state('app', selector='.none')") == []
    name, message = notebook.error("get_applet_state('app', selector='li[')")
    assert (name, "li[" in message) == ("HandlerFailed", True)


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["inline", "pushed"])
def test_image_is_shown_from_inline_base64_and_from_bytes_of_the_kernel(notebook: Notebook, how: str) -> None:
    if how == "inline":
        cell = notebook.run(applet_cell(html=f"<img src='data:image/png;base64,{PNG}' width=20 height=20>"))
    else:
        js = "onStateUpdate(({ png }) => { picture.src = `data:image/png;base64,${png}`; });"
        cell = notebook.run(applet_cell(html="<img id=picture width=20 height=20>", js=js))
        notebook.run(f"import base64\napp.push(png=base64.b64decode({PNG!r}))")
    frame = notebook.applet_frame(cell)
    frame.wait_for_function(
        "document.querySelector('img').complete && document.querySelector('img').naturalWidth === 1"
    )
    pixel = frame.evaluate("""() => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
      const context = canvas.getContext('2d');
      context.drawImage(document.querySelector('img'), 0, 0);
      return [...context.getImageData(0, 0, 1, 1).data];
    }""")
    assert pixel[3] > 0
    expect(notebook.cell(cell).locator(".jupyter-applet-bar")).to_have_count(0)
