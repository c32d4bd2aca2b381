"""Exported applets: one HTML file that runs from disk, offline, as it was; and HTML files of any origin as applets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .applets import COUNTER, NOTE, applet_cell
from .conftest import TIMEOUT_MS
from .notebook import Notebook
from .test_modules import SHOW, WASM, write_folder

OpenFile = Callable[..., Page]


@pytest.fixture
def open_file(browser: Browser) -> Iterator[OpenFile]:
    """Open a file from disk, in a browser without a network that has never seen it."""
    contexts = []

    def open_file(path: Path, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 800, "height": 600}, **options)
        contexts.append(context)
        context.set_default_timeout(TIMEOUT_MS)
        context.set_offline(True)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    errors: list[str] = []
    asked: list[str] = []
    yield open_file
    for context in contexts:
        context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def exported(notebook: Notebook, variable: str, name: str) -> Path:
    path = Path(notebook.value(f"str({variable}.export({name!r}).absolute())"))
    assert path.is_file()
    return path


def wait_until_kept(notebook: Notebook, page: Page, text: str) -> None:
    """Until another tab sees it: a browser hands on what it stores in its own time; a new document may be faster."""
    blank = notebook.lab.root / "blank.html"
    blank.write_text("<!doctype html>")
    tab = page.context.new_page()
    tab.goto(blank.as_uri())
    tab.wait_for_function("text => Object.values(localStorage).some((value) => value.includes(text))", arg=text)
    tab.close()


BOARD = applet_cell(
    "board",
    html="<h1>Board</h1><output id=shown>nothing</output><button onclick='add()'>Add</button>",
    js="""
      onStateUpdate((data, state) => { shown.textContent = JSON.stringify(state); });
      function add() {
        setAppletState({ n: (applet.state.n ?? 0) + 1 });
        localStorage.clicks = Number(localStorage.clicks ?? 0) + 1;
        shown.textContent = JSON.stringify(applet.state);
      }
    """,
    css="h1 { color: rgb(1, 2, 3) }",
    title="A board & more",
)


def test_exported_applet_looks_and_works_the_same_from_disk(notebook: Notebook, open_file: OpenFile) -> None:
    cell = notebook.run(BOARD)
    notebook.run("board.push(word='</script><!--', n=4)")
    shown = notebook.applet(cell).locator("#shown")
    expect(shown).to_contain_text("script")
    page = open_file(exported(notebook, "board", "board.html"))
    assert page.title() == "A board & more"
    expect(page.locator("#shown")).to_have_text(shown.inner_text())
    expect(page.locator("h1")).to_have_css("color", "rgb(1, 2, 3)")
    page.get_by_role("button").click()
    expect(page.locator("#shown")).to_contain_text('"n":5')
    # What is done in it is there tomorrow, in this browser.
    wait_until_kept(notebook, page, '"n":5')
    page.reload()
    expect(page.locator("#shown")).to_contain_text('"n":5')
    assert page.evaluate("localStorage.clicks") == "1"
    page.get_by_role("button").click()
    expect(page.locator("#shown")).to_contain_text('"n":6')
    # And nothing of it is in the notebook.
    assert notebook.value("board.state['n']") == 4


def test_exported_applets_are_brought_back_by_snapshot_and_by_commands(notebook: Notebook, open_file: OpenFile) -> None:
    notebook.run(COUNTER)
    note = notebook.run(NOTE)
    notebook.run("counter.command('add', by=3); counter.command('announce', by=10); counter.command('add', by=4)")
    notebook.applet(note).locator("textarea").fill("typed")
    notebook.applet_frame(note).wait_for_function("window.kept === 'typed'")
    notebook.run("note.command('append', more=', appended')")
    expect(notebook.applet(note).locator("textarea")).to_have_value("typed, appended")

    page = open_file(exported(notebook, "counter", "counter.html"))
    expect(page.locator("#total")).to_have_text("7")
    assert page.evaluate("runs.map((run) => run.replayed)") == [True, True]

    page = open_file(exported(notebook, "note", "note.html"))
    text = page.locator("textarea")
    expect(text).to_have_value("typed, appended")
    text.fill("typed offline")
    wait_until_kept(notebook, page, "typed offline")
    page.reload()
    expect(text).to_have_value("typed offline")


def test_exported_files_do_not_mix_what_the_browser_keeps_of_them(notebook: Notebook, open_file: OpenFile) -> None:
    count = "localStorage.n = Number(localStorage.n ?? 0) + 1; document.title = localStorage.n;"
    for name in ("one", "two"):
        # Made, not shown: nothing has counted yet.
        html = f"<h1>{name}</h1><script>{count}</script>"
        notebook.run(f"{name} = Applet({html!r})")
    one, two = (exported(notebook, name, f"{name}.html") for name in ("one", "two"))
    page = open_file(one)
    expect(page).to_have_title("1")
    wait_until_kept(notebook, page, '"n":"1"')
    page.reload()
    expect(page).to_have_title("2")
    wait_until_kept(notebook, page, '"n":"2"')
    page.goto(two.as_uri())
    expect(page).to_have_title("1")
    page.goto(one.as_uri())
    expect(page).to_have_title("3")


def test_exported_calculator_calculates(notebook: Notebook, open_file: OpenFile) -> None:
    notebook.run("calculator = Applet.load('calculator')\ncalculator")
    notebook.run("calculator.command('evaluate', expression='2^10')")
    page = open_file(exported(notebook, "calculator", "calculator.html"))
    expect(page.locator("output")).to_have_text("1024")
    for name in ("Multiply", "2", "Equals"):
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator("output")).to_have_text("2048")
    page.keyboard.press("Escape")
    expect(page.locator("output")).to_have_text("0")


def test_exported_file_follows_the_readers_colours(notebook: Notebook, open_file: OpenFile) -> None:
    notebook.run(applet_cell("plain", html="<p>plain"))
    path = exported(notebook, "plain", "plain.html")
    page = open_file(path, color_scheme="dark")
    expect(page.locator("html")).to_have_css("background-color", "rgb(30, 30, 30)")
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_css("background-color", "rgb(255, 255, 255)")


MODULES = """
import lib from 'lib';
import { twice } from './util.js';
const { late } = await import(`./${'late'}.js`);
const { instance } = await WebAssembly.instantiate(await (await fetch('applet:/add.wasm')).arrayBuffer());
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }) => show([lib, twice(4), late, instance.exports.add(1, 1), data]);
worker.postMessage(3);
"""


def test_modules_are_in_the_exported_file(notebook: Notebook, open_file: OpenFile) -> None:
    files: dict[str, str | bytes] = {
        "script.js": SHOW + MODULES,
        "util.js": "export const twice = (n) => n * 2;",
        "late.js": "export const late = 'late';",
        "worker.js": "import { twice } from './util.js';\nonmessage = ({ data }) => postMessage(twice(data));",
        "vendor/lib.mjs": "export default 'lib';",
        "add.wasm": WASM,
    }
    write_folder(notebook.lab.root, "exported", files, '{"lib": "vendor/lib.mjs"}')
    cell = notebook.run("app = Applet.load('exported')\napp")
    expected = '["lib",8,"late",2,6]'
    expect(notebook.applet(cell).locator("output")).to_have_text(expected)
    page = open_file(exported(notebook, "app", "modules.html"))
    expect(page.locator("output")).to_have_text(expected)
    # Read back, it is the same applet, without a folder.
    again = notebook.run("again = Applet.from_file('modules.html')\nagain")
    expect(notebook.applet(again).locator("output")).to_have_text(expected)
    assert notebook.value(
        "[again.js == app.js, again.files == app.files, again.modules == app.modules, again.slug]"
    ) == [
        True,
        True,
        True,
        "",
    ]


def test_scripts_of_the_html_run_in_their_order_in_the_exported_file(notebook: Notebook, open_file: OpenFile) -> None:
    html = """<!doctype html>
      <html lang="de"><head><title>Ganz</title><link rel=stylesheet href="look.css">
      <script src="first.js"></script><script>window.order.push('inline');</script>
      <script type="module">import { third } from './third.js';\nwindow.order.push(third);</script></head>
      <body><output id=out>waiting</output><script src='./second.js'></script></body></html>"""
    files: dict[str, str | bytes] = {
        "content.html": html,
        "first.js": "const order = window.order = ['first'];\nconst text = '</script>';",
        "second.js": "order.push('second', typeof out);",
        "third.js": "export const third = 'third';",
        "look.css": "output { color: rgb(4, 5, 6) }",
        "script.js": "order.push('js', document.documentElement.lang); out.textContent = order.join();",
    }
    write_folder(notebook.lab.root, "ordered", files)
    cell = notebook.run("app = Applet.load('ordered')\napp")
    expected = "first,inline,second,object,third,js,de"
    expect(notebook.applet(cell).locator("output")).to_have_text(expected)
    page = open_file(exported(notebook, "app", "ordered.html"))
    expect(page.locator("output")).to_have_text(expected)
    expect(page.locator("output")).to_have_css("color", "rgb(4, 5, 6)")
    assert page.title() == "Ganz"
    assert page.evaluate("document.compatMode") == "CSS1Compat"


# ── read back ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_exported_file_is_read_back_as_it_was(notebook: Notebook) -> None:
    notebook.run(BOARD)
    notebook.run("board.push(word='kept', n=4)\nboard.export('back.html')")
    cell = notebook.run("back = Applet.from_file('back.html')\nback")
    expect(notebook.applet(cell).locator("#shown")).to_have_text('{"word":"kept","n":4}')
    same = (
        "[getattr(back, name) == getattr(board, name) for name in ('html', 'js', 'css', 'title', 'modules', 'files')]"
    )
    assert notebook.value(same) == [True] * 6
    assert notebook.value("dict(back.state) == dict(board.state)") is True
    assert notebook.value("back.window_id != board.window_id") is True
    notebook.applet(cell).get_by_role("button").click()
    assert notebook.value("back.wait_for_state('n', lambda n: n == 5, timeout=10)") == 5
    # Counted back from the file: what was recorded is replayed.
    notebook.run(COUNTER)
    notebook.run("counter.command('add', by=7)\ncounter.export('counter.html')")
    cell = notebook.run("recounted = Applet.from_file('counter.html', window_id='recounted')\nrecounted")
    expect(notebook.applet(cell).locator("#total")).to_have_text("7")


def test_any_html_file_is_shown_as_an_applet(notebook: Notebook) -> None:
    page = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>My  page</title><style>p { color: rgb(7, 8, 9) }</style></head>
<body><p>plain ü</p><button onclick="count()">0</button>
<script>
  function count() { const button = document.querySelector('button'); button.textContent = +button.textContent + 1; }
</script></body></html>"""
    (notebook.lab.root / "page.html").write_text(page, "utf-8")
    cell = notebook.run("page = Applet.from_file('page.html')\npage")
    applet = notebook.applet(cell)
    expect(applet.locator("p")).to_have_text("plain ü")
    expect(applet.locator("p")).to_have_css("color", "rgb(7, 8, 9)")
    applet.get_by_role("button").click()
    expect(applet.get_by_role("button")).to_have_text("1")
    assert notebook.value("[page.title, dict(page.state)]") == ["My page", {}]
    assert notebook.error("Applet.from_file('no.html')")[0] == "FileNotFoundError"
