"""Applets as files: saved, loaded, listed, edited in an editor, written by hand, deleted; by people and by LLMs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from .applets import COUNTER, COUNTER_HTML, COUNTER_JS, NOTE, applet_cell
from .notebook import Notebook

# Shows what it is given, and says what it has.
BOARD_HTML = "<output id=shown>nothing</output><button onclick='click_()'>+</button>"
BOARD_JS = """
onStateUpdate((_, state) => { shown.textContent = JSON.stringify(state); });
const click_ = () => setAppletState({ clicks: (applet.state.clicks ?? 0) + 1 });
"""
BOARD_CSS = "output { color: rgb(1, 2, 3) }"


def folder_of(notebook: Notebook, slug: str) -> Path:
    return notebook.lab.root / "applets" / slug


def document(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def edit(path: Path, old: str, new: str) -> None:
    """As an editor that writes into the file."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def write_applet(notebook: Notebook, slug: str, **files: str) -> Path:
    """A folder as an author makes it. `script_js` is script.js."""
    folder = folder_of(notebook, slug)
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text, "utf-8")
    return folder


def wait_for_log(notebook: Notebook, variable: str, text: str) -> None:
    """Until the applet's logs have a line with the text: between it and the kernel lie the page and the server."""
    notebook.run(
        "import asyncio\nasync with asyncio.timeout(10):\n"
        f"  while not any({text!r} in line.text for line in {variable}.logs): await asyncio.sleep(0.01)"
    )


# ── saving and loading ───────────────────────────────────────────────────────────────────────────────────────────────


def test_saved_applet_is_files_that_a_person_can_read(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("board", html=BOARD_HTML, js=BOARD_JS, css=BOARD_CSS, title="Board", height=200))
    notebook.run("board.push(rows=[1, 'zwei', None])")
    notebook.applet(cell).get_by_role("button").click()
    notebook.run("board.wait_for_state('clicks', timeout=10)")
    saved = notebook.value("board.save('board', description='Shows its state')")
    folder = folder_of(notebook, "board")
    assert sorted(path.name for path in folder.iterdir()) == [
        "app.json",
        "content.html",
        "meta.json",
        "script.js",
        "state.json",
        "style.css",
    ]
    assert (folder / "content.html").read_text("utf-8") == BOARD_HTML
    assert (folder / "script.js").read_text("utf-8") == BOARD_JS
    assert (folder / "style.css").read_text("utf-8") == BOARD_CSS
    assert document(folder / "state.json") == {"rows": [1, "zwei", None], "clicks": 1}
    app = document(folder / "app.json")
    assert (app["appProtocol"], app["height"], app["permissions"]) == (True, 200, {})
    meta = document(folder / "meta.json")
    assert (meta["name"], meta["description"], meta["updated"]) == ("Board", "Shows its state", saved["updated"])
    assert "board" in json.dumps(document(folder.parent / "_index.json"))
    assert all(Path(path).exists() for path in saved["paths"].values())

    # Saved twice is saved once.
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert notebook.value("board.save('board')")["updated"] == saved["updated"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_applet_loaded_in_another_cell_has_the_state_it_was_saved_with(notebook: Notebook) -> None:
    notebook.run(applet_cell("one", html=BOARD_HTML, js=BOARD_JS, css=BOARD_CSS, title="One"))
    notebook.run("one.push(word='kept')\none.save('loaded')\none.push(word='later')")
    cell = notebook.run("again = Applet.load('loaded', window_id='again')\nagain")
    shown = notebook.applet(cell).locator("output")
    expect(shown).to_have_text('{"word":"kept"}')
    expect(shown).to_have_css("color", "rgb(1, 2, 3)")
    assert notebook.value("[again.title, again.slug, dict(again.state), dict(one.state)]") == [
        "One",
        "loaded",
        {"word": "kept"},
        {"word": "later"},
    ]
    notebook.applet(cell).get_by_role("button").click()
    assert notebook.value("again.wait_for_state('clicks', timeout=10)") == 1


def test_loaded_applet_is_brought_back_by_its_snapshot_or_its_commands(notebook: Notebook) -> None:
    counter, note = notebook.run(COUNTER), notebook.run(NOTE)
    notebook.run("counter.command('add', by=5); counter.command('announce', by=100)")
    notebook.applet(note).locator("textarea").fill("typed")
    notebook.applet_frame(note).wait_for_function("window.kept === 'typed'")
    assert notebook.applet(counter).locator("#total").inner_text() == "105"
    notebook.run("counter.save('counted'); note.save('noted')")
    cell = notebook.run("display(Applet.load('counted', 'c'), Applet.load('noted', 'n'))")
    expect(notebook.applet(cell, 0).locator("#total")).to_have_text("5")
    expect(notebook.applet(cell, 1).locator("textarea")).to_have_value("typed")
    assert notebook.value("app_query('c', 'runs')") == [{"by": 5, "replayed": True}]


def test_list_names_files_that_exist(notebook: Notebook) -> None:
    notebook.run(applet_cell("listed", html=BOARD_HTML, js=BOARD_JS, title="Listed") + "\nlisted.save('listed')")
    found = {entry["slug"]: entry for entry in notebook.value("list_applets()")}
    assert found["listed"]["name"] == "Listed"
    assert found["calculator"]["description"].startswith("A calculator")
    for entry in (found["listed"], found["calculator"]):
        paths = [Path(path) for path in entry["paths"].values()]
        assert paths
        assert all(path.is_absolute() and path.exists() for path in paths)


def test_shipped_calculator_is_loaded_by_its_name(notebook: Notebook) -> None:
    cell = notebook.run("calculator = Applet.load('calculator')\ncalculator")
    applet = notebook.applet(cell)
    for name in ("1", "2", "Plus", "3", "0", "Equals"):
        applet.get_by_role("button", name=name, exact=True).click()
    expect(applet.locator("output")).to_have_text("42")
    assert notebook.value("calculator.command('evaluate', expression='6*7')['result']") == "42"
    assert notebook.error("delete_applet('calculator')")[0] == "StoreError"


def test_deleted_applet_is_moved_away_and_the_window_goes_on(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("gone", html=BOARD_HTML, js=BOARD_JS) + "\ngone.save('gone')\ngone.push(a=1)")
    notebook.applet_frame(cell).evaluate("window.marker = 1")
    moved = notebook.value("delete_applet('gone')['movedTo']")
    assert not folder_of(notebook, "gone").exists()
    assert (notebook.lab.root / moved / "content.html").read_text("utf-8") == BOARD_HTML
    assert "gone" not in [entry["slug"] for entry in notebook.value("list_applets()")]
    expect(notebook.applet(cell).locator("output")).to_have_text('{"a":1}')
    assert notebook.applet_frame(cell).evaluate("window.marker") == 1
    assert notebook.value("get_applet_state('gone')['activeSlug']") is None
    name, message = notebook.error("Applet.load('gone')")
    assert name == "AppletNotFound"
    assert "'gone'" in message


# ── edited while it is open ──────────────────────────────────────────────────────────────────────────────────────────


def test_edited_script_reloads_the_open_applet_with_its_state_and_commands(notebook: Notebook) -> None:
    js = COUNTER_JS + "window.version = 'first';\nonStateUpdate((_, s) => { total.title = s.word; });"
    cell = notebook.run(applet_cell("edited", html=COUNTER_HTML, js=js))
    notebook.run("edited.command('add', by=3)\nedited.push(word='kept')\nedited.save('edited')")
    frame = notebook.applet_frame(cell)
    assert frame.evaluate("version") == "first"

    edit(folder_of(notebook, "edited") / "script.js", "'first'", "'second'")
    total = notebook.applet(cell).locator("#total")
    expect(total).to_have_attribute("title", "kept")
    expect(total).to_have_text("3")
    frame = notebook.applet_frame(cell)
    frame.wait_for_function("window.version === 'second' && runs.length === 1")
    assert notebook.value("[edited.command('add', by=1), edited.state['word'], 'second' in edited.js]") == [
        4,
        "kept",
        True,
    ]
    assert notebook.value("[run['replayed'] for run in edited.query('runs')]") == [True, False]

    # The other files too.
    (folder_of(notebook, "edited") / "style.css").write_text("output { color: rgb(7, 8, 9) }")
    expect(total).to_have_css("color", "rgb(7, 8, 9)")
    expect(total).to_have_text("4")
    assert "rgb(7, 8, 9)" in notebook.value("edited.css")


def test_broken_edit_is_told_and_the_old_applet_goes_on(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("fragile", html=COUNTER_HTML, js=COUNTER_JS))
    notebook.run("fragile.command('add', by=2)\nfragile.save('fragile')")
    notebook.applet_frame(cell).evaluate("window.marker = 1")
    folder = folder_of(notebook, "fragile")
    whole = (folder / "app.json").read_text("utf-8")
    (folder / "app.json").write_text(whole[: len(whole) // 2], "utf-8")
    wait_for_log(notebook, "fragile", "The changed files were not loaded")
    [line] = notebook.value("[line.text for line in fragile.logs if 'not loaded' in line.text]")
    assert "app.json" in line
    broken = {entry["slug"]: entry for entry in notebook.value("list_applets()")}["fragile"]
    assert "app.json" in json.dumps(broken)
    assert notebook.value("fragile.command('add', by=1)") == 3
    assert notebook.applet_frame(cell).evaluate("window.marker") == 1

    (folder / "content.html").write_text("<b>mended</b>" + COUNTER_HTML, "utf-8")
    (folder / "app.json").write_text(whole, "utf-8")
    expect(notebook.applet(cell).locator("b")).to_have_text("mended")
    expect(notebook.applet(cell).locator("#total")).to_have_text("3")


def test_script_that_throws_shows_its_error_until_it_is_mended(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("oops", html="<p>here", js="window.fine = 1;") + "\noops.save('oops')")
    script = folder_of(notebook, "oops") / "script.js"
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    script.write_text("const a = 1;\n\nmissing();")
    panel = notebook.cell(cell).locator(".jupyter-applet-error")
    expect(panel).to_contain_text("script.js:3:1")
    wait_for_log(notebook, "oops", "missing is not defined")
    script.write_text("document.querySelector('p').append(' again');")
    expect(notebook.applet(cell).locator("p")).to_have_text("here again")
    expect(panel).to_have_count(0)


def test_editor_that_replaces_the_file_is_noticed_too(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("swapped", html="<p>one") + "\nswapped.save('swapped')")
    folder = folder_of(notebook, "swapped")
    for text in ("two", "three"):
        (folder / "new.tmp").write_text(f"<p>{text}")
        (folder / "new.tmp").rename(folder / "content.html")
        expect(notebook.applet(cell).locator("p")).to_have_text(text)


# ── windows and what they show ───────────────────────────────────────────────────────────────────────────────────────


def test_state_tells_which_applet_runs(notebook: Notebook) -> None:
    notebook.run(applet_cell("told", html=BOARD_HTML, js=BOARD_JS, title="Told") + "\ntold.push(a=1)")
    expected = {"state": {"a": 1}, "windowId": "told", "activeSlug": None, "appletTitle": "Told", "hasApplet": True}
    assert notebook.value("get_applet_state('told')") == expected
    notebook.run("told.save('told')")
    assert notebook.value("get_applet_state('told')") == {**expected, "activeSlug": "told"}
    assert notebook.value("told.slug") == "told"
    assert notebook.value("get_applet_state('told', key='a')['state']") == {"a": 1}
    notebook.run("told.set_content(html='<p>another')")
    assert notebook.value("get_applet_state('told')") == {**expected, "state": {}}
    assert notebook.error("get_applet_state('nowhere')")[0] == "WindowNotFound"


def test_state_is_kept_for_the_same_applet_and_cleared_for_another(notebook: Notebook) -> None:
    notebook.run(applet_cell("kept", html=BOARD_HTML, js=BOARD_JS) + "\nkept.push(word='saved')\nkept.save('kept')")
    notebook.run("other = Applet('<p>other', window_id='other')\nother.save('other')")
    cell = notebook.run("kept = Applet.load('kept', 'room')\nkept.push(word='now')\nkept")
    shown = notebook.applet(cell).locator("output")
    expect(shown).to_have_text('{"word":"now"}')

    # The same again: a new document, with the state of the old one.
    notebook.applet_frame(cell).evaluate("document.body.id = 'old'")
    assert notebook.value("load_applet('kept', window_id='room')")["shown"] is True
    expect(notebook.applet(cell).locator("body:not(#old) output")).to_have_text('{"word":"now"}')
    assert notebook.value("[dict(kept.state), get_applet_state('room')['state']]") == [{"word": "now"}] * 2

    # Another, and back: each as it was saved.
    notebook.run("load_applet('other', window_id='room')")
    expect(notebook.applet(cell).locator("p")).to_have_text("other")
    assert notebook.value("[dict(kept.state), kept.html, kept.slug]") == [{}, "<p>other", "other"]
    notebook.run("load_applet('kept', window_id='room')")
    expect(shown).to_have_text('{"word":"saved"}')
    assert notebook.value("dict(kept.state)") == {"word": "saved"}


def test_applet_written_by_hand_says_how_to_opt_in(notebook: Notebook) -> None:
    register = "applet.app.register({ appId: 'hand', state: { n: { handler: () => 7 } } });"
    folder = write_applet(
        notebook,
        "by-hand",
        content_html="<p>by hand</p>",
        script_js=register,
        meta_json='{"name": "By hand"}',
        app_json='{"permissions": {}}',
    )
    entry = {entry["slug"]: entry for entry in notebook.value("list_applets()")}["by-hand"]
    assert entry["name"] == "By hand"
    cell = notebook.run("hand = Applet.load('by-hand')\nhand")
    expect(notebook.applet(cell).locator("p")).to_have_text("by hand")
    name, message = notebook.error("app_query('by-hand', 'n')")
    assert name == "NotOptedIn"
    assert '"appProtocol": true' in message
    (folder / "app.json").write_text('{"appProtocol": true}')
    notebook.run(
        "import asyncio\nasync with asyncio.timeout(10):\n  while not hand._app_protocol: await asyncio.sleep(0.01)"
    )
    assert notebook.value("hand.query('n')") == 7


def test_tools_are_called_as_an_llm_calls_them(notebook: Notebook) -> None:
    call = "json.loads(json.dumps(await tools.call({!r}, json.loads({!r}))))"

    def ask(name: str, /, **arguments: Any) -> Any:
        return notebook.value(call.format(name, json.dumps(arguments)))

    names = notebook.value("[tool['name'] for tool in tools.schemas('anthropic')]")
    assert {"set_applet_content", "get_applet_state", "save_applet", "load_applet", "list_applets"} <= set(names)
    assert names == notebook.value("[tool['function']['name'] for tool in tools.schemas('openai')]")
    cell = notebook.run("desk = Desk()\ndesk")
    place = notebook.cell(cell)
    first = ask("set_applet_content", html="<p>first", title="First", windowId="made")
    assert first["windowId"] == "made"
    expect(place.get_by_role("tab", name="First")).to_be_visible()
    made = ask("set_applet_content", html=BOARD_HTML, js=BOARD_JS, title="Made")
    assert made == {"windowId": "made", "shown": True, "replaced": "First"}
    expect(place.get_by_role("tab", name="Made")).to_be_visible()
    applet = place.locator(".jupyter-applet:visible iframe").content_frame.locator("iframe").content_frame
    applet.get_by_role("button").click()
    expect(applet.locator("output")).to_have_text("nothing")
    assert ask("set_applet_state", data={"progress": 50})["windowId"] == "made"
    expect(applet.locator("output")).to_have_text('{"clicks":1,"progress":50}')
    assert ask("get_applet_state")["state"] == {"clicks": 1, "progress": 50}
    saved = ask("save_applet", slug="made-by-llm", name="Made", description="By a tool")
    assert all(Path(path).exists() for path in saved["paths"].values())
    shown = ask("load_applet", slug="calculator")
    assert set(shown) == {"windowId", "shown", "slug"}
    assert (
        ask("app_command", windowId=shown["windowId"], command="evaluate", params={"expression": "2^10"})["result"]
        == "1024"
    )
    assert ask("get_applet_state")["activeSlug"] == "calculator"
    assert ask("delete_applet", slug="made-by-llm")["slug"] == "made-by-llm"
    ask("close_window", windowId=shown["windowId"])
    assert notebook.error("await tools.call('format_disk', {})")[0] == "UnknownTool"
