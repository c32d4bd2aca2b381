"""What an applet may do is declared or asked: bars that wait for a person, decisions that are kept and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Locator, expect

from ..security.frame.loopback import PIXEL, Loopback, loopback
from .applets import applet_cell
from .conftest import OpenNotebook, StartLab
from .deciding import decide
from .notebook import Notebook

ALWAYS = "Always for this applet"

# Of an applet in its frame.
PADDING = 8


@pytest.fixture
def note(notebook: Notebook) -> Path:
    (notebook.lab.root / "note.txt").write_text("words")
    (notebook.lab.root / "other.txt").write_text("other words")
    return notebook.lab.root / "note.txt"


@pytest.fixture(scope="module")
def outside() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


class Asker:
    """An applet that asks, in a cell, and the bar below it."""

    def __init__(self, notebook: Notebook, cell: int) -> None:
        self.notebook = notebook
        self.cell = cell

    # Found anew each time: a page that was reloaded has other elements.

    @property
    def output(self) -> Locator:
        return self.notebook.cell(self.cell)

    @property
    def bars(self) -> Locator:
        return self.output.locator(".jupyter-applet-bar")

    @property
    def frame(self) -> Frame:
        return self.notebook.applet_frame(self.cell)

    def ask(self, call: str) -> None:
        """Begin a call in the applet; `answer` is what came of it."""
        settle = "(value) => { answer = value }, (error) => { answer = error.code }"
        self.frame.evaluate(f"call => {{ window.answer = 'waiting'; eval(call).then({settle}) }}", call)

    def expect_answer(self, answer: Any) -> None:
        self.frame.wait_for_function("wanted => JSON.stringify(answer) === JSON.stringify(wanted)", arg=answer)

    def expect_bar(self, text: str) -> None:
        expect(self.bars).to_have_count(1)
        expect(self.bars.locator("span")).to_contain_text(text)

    def choose(self, label: str) -> None:
        decide(self.output.get_by_role("button", name=label, exact=True))


def show(notebook: Notebook, name: str, **content: Any) -> Asker:
    """A window of a name that no other test uses: what is decided of one holds on."""
    asker = Asker(notebook, notebook.run(applet_cell(name, **{"html": "<p>Asks", "title": "Asker", **content})))
    expect(notebook.applet(asker.cell).locator("#appletView > *")).to_be_visible()
    return asker


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_allowed_once_is_asked_again(notebook: Notebook, note: Path) -> None:
    asker = show(notebook, "once")
    asker.ask("readFile('note.txt')")
    asker.expect_bar("“Asker” wants to read “note.txt”.")
    assert asker.frame.evaluate("answer") == "waiting"
    # What wants the same shares the bar, and the decision.
    asker.frame.evaluate("void readFile('other.txt').then((text) => { window.second = text })")
    asker.expect_bar("“Asker” wants to read “note.txt”, “other.txt”.")
    asker.choose("Allow once")
    asker.expect_answer("words")
    asker.frame.wait_for_function("window.second === 'other words'")
    expect(asker.bars).to_have_count(0)
    assert notebook.value("once.decisions") == {}
    asker.ask("listFiles()")
    asker.expect_bar("“Asker” wants to read the list of files.")
    asker.choose("Deny")
    asker.expect_answer("PERMISSION_DENIED")


def test_always_is_kept_over_a_reload_and_taken_back_by_bar_shield_and_kernel(notebook: Notebook, note: Path) -> None:
    asker = show(notebook, "always")
    asker.ask("readFile('note.txt')")
    asker.choose(ALWAYS)
    asker.expect_answer("words")
    asker.expect_bar("This applet may read files.")
    assert notebook.value("always.decisions") == {"files": "read"}
    asker.choose("Take back")
    expect(asker.bars).to_have_count(0)
    assert notebook.value("always.decisions") == {}

    # To write is more than to read: it is asked for, and kept as one.
    asker.ask("readFile('note.txt')")
    asker.choose(ALWAYS)
    asker.expect_answer("words")
    asker.choose("Dismiss")
    asker.ask("writeFile('note.txt', 'new words').then(() => 'written')")
    asker.expect_bar("“Asker” wants to change “note.txt”.")
    asker.choose(ALWAYS)
    asker.expect_answer("written")
    assert note.read_text() == "new words"
    assert notebook.value("always.decisions") == {"files": "write"}

    notebook.reload()
    asker.ask("readFile('note.txt')")
    asker.expect_answer("new words")
    expect(asker.bars).to_have_count(0)
    # The shield opens the list of what was decided.
    shield = asker.output.get_by_role("button", name="What this applet may do")
    shield.focus()
    notebook.page.keyboard.press("Enter")
    expect(asker.output.get_by_text("This applet may read and change files.")).to_be_visible()
    notebook.page.keyboard.press("Escape")
    expect(asker.output.get_by_text("This applet may read and change files.")).to_be_hidden()
    shield.click(force=True)
    asker.choose("Take back")
    expect(shield).to_have_count(0)
    assert notebook.value("always.decisions") == {}

    asker.ask("readFile('note.txt')")
    asker.choose(ALWAYS)
    asker.expect_answer("new words")
    assert notebook.value("always.revoke()") == {}
    expect(shield).to_have_count(0)
    expect(asker.bars).to_have_count(0)
    asker.ask("readFile('note.txt')")
    asker.expect_bar("“Asker” wants to read “note.txt”.")


def test_no_is_remembered_until_it_is_taken_back(notebook: Notebook, note: Path) -> None:
    asker = show(notebook, "denied")
    asker.ask("writeFile('new.txt', 'x')")
    asker.expect_bar("“Asker” wants to change “new.txt”.")
    asker.choose("Deny")
    asker.expect_answer("PERMISSION_DENIED")
    for call in ("writeFile('new.txt', 'x')", "readFile('note.txt')"):
        asker.ask(call)
        asker.expect_answer("PERMISSION_DENIED")
        expect(asker.bars).to_have_count(0)
    assert not (notebook.lab.root / "new.txt").exists()
    assert notebook.value("denied.decisions") == {"files": False}
    notebook.run("denied.revoke('files')")
    asker.ask("readFile('note.txt')")
    asker.expect_bar("“Asker” wants to read “note.txt”.")
    # Other content has other wishes: nothing of the old one's is left.
    notebook.run("denied.set_content(html='<p>Another')")
    expect(asker.bars).to_have_count(0)


def test_overwriting_what_was_not_read_asks_whatever_is_declared(notebook: Notebook, note: Path) -> None:
    asker = show(notebook, "writer", permissions={"files": "write"})
    asker.ask("writeFile('note.txt', 'over').then(() => 'written')")
    asker.expect_bar("“Asker” wants to overwrite “note.txt”, which it has not read.")
    expect(asker.bars.get_by_role("button")).to_have_text(["Allow once", "Deny"])
    asker.choose("Deny")
    asker.expect_answer("PERMISSION_DENIED")
    assert note.read_text() == "words"
    # No holds for as long as this document does.
    asker.ask("writeFile('note.txt', 'over').then(() => 'written')")
    asker.expect_answer("PERMISSION_DENIED")
    expect(asker.bars).to_have_count(0)
    with another_document(asker):
        notebook.run("writer.set_content(html='<p>Another')")
    asker.ask("writeFile('note.txt', 'over').then(() => 'written')")
    asker.choose("Allow once")
    asker.expect_answer("written")
    # What it has written, or read, it may write.
    asker.ask("writeFile('note.txt', 'again').then(() => 'written')")
    asker.expect_answer("written")
    asker.ask("readFile('other.txt').then(() => writeFile('other.txt', 'x')).then(() => 'written')")
    asker.expect_answer("written")
    asker.ask("writeFile('never-there.txt', 'x').then(() => 'written')")
    asker.expect_answer("written")
    expect(asker.bars).to_have_count(0)
    backups = notebook.lab.root / ".jupyter-applets" / "backups"
    assert any(path.read_bytes() == b"words" for path in backups.rglob("*") if path.is_file())


def test_picture_that_the_html_names_is_asked_for_too(notebook: Notebook) -> None:
    (notebook.lab.root / "pixel.gif").write_bytes(PIXEL)
    asker = Asker(notebook, notebook.run(applet_cell("picture", html="<img id=pixel src=pixel.gif alt=x>")))
    asker.expect_bar("This applet wants to read “pixel.gif”.")
    asker.choose("Allow once")
    expect(notebook.applet(asker.cell).locator("#pixel")).to_have_js_property("naturalWidth", 1)


def test_bar_that_comes_below_the_pointer_takes_no_click_before_it_could_be_seen(
    notebook: Notebook, note: Path
) -> None:
    """Clickjacking: the applet has its person click a spot twice, and shrinks in between."""
    shrink = "game.onclick = () => { game.style.height = '20px'; clicked = true }; clicked = false"
    game = "<div id=game style='height: 200px'>Click me, fast</div>"
    asker = show(notebook, "clicker", html=game, js=shrink)
    frame = asker.output.locator("iframe")
    expect(frame).to_have_js_property("clientHeight", 200 + 2 * PADDING)
    asker.ask("readFile('note.txt')")
    always = asker.output.get_by_role("button", name=ALWAYS)
    expect(always).to_be_enabled()
    page = notebook.page

    # While a question is there, the frame keeps its height.
    box = always.bounding_box()
    assert box is not None
    spot = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(spot[0], spot[1] - 180)
    asker.frame.wait_for_function("clicked && game.clientHeight === 20")
    page.mouse.click(spot[0], spot[1] - 180)
    asker.frame.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    expect(frame).to_have_js_property("clientHeight", 200 + 2 * PADDING)
    asker.expect_bar("“Asker” wants to read “note.txt”.")

    # Something else moves it, and the next click comes at once.
    moved = """([bar, spot]) => {
        const button = bar.querySelectorAll('button')[1];
        bar.parentElement.style.paddingTop = '100px';
        const [x, y] = [spot[0], spot[1] + 100];
        if (document.elementFromPoint(x, y) !== button) throw new Error('it is not there');
        button.click();
    }"""
    page.evaluate(moved, [asker.bars.element_handle(), spot])
    expect(always).to_be_disabled()
    asker.expect_bar("“Asker” wants to read “note.txt”.")
    assert asker.frame.evaluate("answer") == "waiting"

    # So do other words, before they could be read.
    expect(always).to_be_enabled()
    asker.frame.evaluate("void readFile('other.txt')")
    asker.expect_bar("“Asker” wants to read “note.txt”, “other.txt”.")
    expect(always).to_be_disabled()
    expect(always).to_be_enabled()
    assert notebook.value("clicker.decisions") == {}

    # What was decided in peace holds, and the frame takes the height that it wants.
    asker.choose(ALWAYS)
    asker.expect_answer("words")
    expect(frame).to_have_js_property("clientHeight", 20 + 2 * PADDING)


def test_bars_by_keyboard(notebook: Notebook, note: Path) -> None:
    asker = show(notebook, "keys", html="<button id=go>Go</button>")
    press = notebook.page.keyboard.press
    asker.ask("readFile('note.txt')")
    asker.expect_bar("“Asker” wants to read “note.txt”.")
    expect(asker.output.get_by_role("button", name="Allow once")).to_be_enabled()
    # Out of the applet, into the bar.
    notebook.applet(asker.cell).locator("#go").focus()
    press("Tab")
    expect(asker.output.get_by_role("button", name="Allow once")).to_be_focused()
    expect(asker.output.get_by_role("button", name="Allow once")).to_have_css("outline-style", "solid")
    decide(asker.output.get_by_role("button", name="Allow once"), "Enter")
    asker.expect_answer("words")
    asker.ask("readFile('note.txt')")
    expect(asker.output.get_by_role("button", name=ALWAYS)).to_be_enabled()
    asker.output.get_by_role("button", name=ALWAYS).focus()
    press("Escape")
    asker.expect_answer("PERMISSION_DENIED")
    expect(asker.bars).to_have_count(0)


# ── the network ──────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def another_document(asker: Asker) -> Iterator[None]:
    """What is done here loads the applet anew, since a document's policy cannot change."""
    asker.frame.evaluate("document.body.dataset.old = 'yes'")
    yield
    applet = asker.notebook.applet(asker.cell)
    expect(applet.locator("body:not([data-old]) #appletView > *")).to_be_visible()


def test_network_is_closed_until_it_is_declared_or_allowed(notebook: Notebook, outside: Loopback) -> None:
    fetched = f"fetch('{outside.origin}/%s').then((response) => response.text(), () => 'blocked')"
    listed = show(notebook, "listed", permissions={"network": [outside.origin]})
    listed.ask(fetched % "listed")
    listed.expect_answer("arrived")

    html = "<input id=kept>"
    js = "kept.oninput = () => setAppletState({ kept: kept.value }); onStateUpdate((s) => { kept.value = s.kept })"
    asker = show(notebook, "network", html=html, js=js)
    field = notebook.applet(asker.cell).locator("#kept")
    field.fill("typed")
    asker.ask(fetched % "once")
    asker.expect_answer("blocked")
    asker.expect_bar(f"“Asker” wants to reach “{outside.origin}” (data).")
    expect(asker.bars.get_by_role("button")).to_have_text(["Allow once", ALWAYS, "Deny"])
    # A new policy needs a new document, with the state of the old one.
    with another_document(asker):
        asker.choose("Allow once")
    expect(field).to_have_value("typed")
    asker.ask(fetched % "once")
    asker.expect_answer("arrived")
    assert notebook.value("network.decisions") == {}

    notebook.run("network.set_content(html='<p>fresh', js='')")
    expect(notebook.applet(asker.cell).locator("p")).to_have_text("fresh")
    asker.ask(fetched % "denied")
    asker.choose("Deny")
    asker.ask(fetched % "denied")
    asker.expect_answer("blocked")
    # The bar of another origin, which is asked for after it, is the only one.
    asker.ask("fetch('https://example.invalid').catch(() => 'blocked')")
    asker.expect_bar("“Asker” wants to reach “https://example.invalid” (data).")
    assert "/denied" not in outside.hits

    notebook.run("network.set_content(html='<p>always')")
    expect(notebook.applet(asker.cell).locator("p")).to_have_text("always")
    asker.ask(fetched % "always")
    with another_document(asker):
        asker.choose(ALWAYS)
    asker.expect_bar(f"This applet may reach “{outside.origin}”.")
    expect(notebook.applet(asker.cell).locator("p")).to_have_text("always")
    asker.ask(fetched % "always")
    asker.expect_answer("arrived")
    assert notebook.value("network.decisions") == {"network": [outside.origin]}
    with another_document(asker):
        notebook.run("network.revoke('network')")
    expect(asker.output.get_by_text(f"This applet may reach “{outside.origin}”.")).to_have_count(0)
    expect(notebook.applet(asker.cell).locator("p")).to_have_text("always")
    asker.ask(fetched % "revoked")
    asker.expect_answer("blocked")
    assert "/revoked" not in outside.hits


# ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────────

RUNS = {"html": "<p id=ran>not yet", "js": "ran.textContent = 'has run'", "title": "Stranger"}
FOREIGN = """
import ipywidgets, nbformat
from nbformat.sign import NotebookNotary
from pathlib import Path
made = Applet(window_id="to-be-renamed", permissions={"files": "read"}, **%r)
state = ipywidgets.Widget.get_manager_state(widgets=[made, made.layout])
view = {"application/vnd.jupyter.widget-view+json": {"model_id": made.model_id, "version_major": 2, "version_minor": 0}}
cell = nbformat.v4.new_code_cell("made", outputs=[nbformat.v4.new_output("display_data", data=view)])
metadata = {"widgets": {"application/vnd.jupyter.widget-state+json": state},
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell], metadata=metadata)).replace("to-be-renamed", "foreign")
Path("foreign.ipynb").write_text(text)
# JupyterLab shows no widget of a notebook before the person trusts it.
NotebookNotary().sign(nbformat.reads(text, 4))
made.close()
"""


def test_applet_of_a_notebook_without_its_kernel_waits_for_a_person(notebook: Notebook) -> None:
    notebook.run(FOREIGN % RUNS)
    opened = Notebook(notebook.lab, notebook.page.context.new_page(), "foreign.ipynb")
    opened.open()
    panel = opened.cell(0).locator(".jupyter-applet-run")
    expect(panel).to_contain_text("Stranger")
    expect(panel).to_contain_text("HTML (17 bytes), JavaScript (27 bytes)")
    expect(panel).to_contain_text("It wants to: read files.")
    panel.get_by_text("Source").click()
    expect(panel).to_contain_text(RUNS["js"])
    expect(opened.cell(0).locator("iframe")).to_be_hidden()
    # What opened has moved the buttons.
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    opened.page.keyboard.press("Tab")
    decide(panel.get_by_role("button", name="Run", exact=True), "Enter")
    expect(opened.applet(0).locator("#ran")).to_have_text("has run")
    expect(panel).to_have_count(0)

    # Not for good.
    opened.reload(save=False)
    decide(opened.cell(0).get_by_role("button", name="Always run"))
    expect(opened.applet(0).locator("#ran")).to_have_text("has run")
    bar = opened.cell(0).locator(".jupyter-applet-bar")
    expect(bar).to_contain_text("This applet may run without being asked about.")
    opened.reload(save=False)
    expect(opened.applet(0).locator("#ran")).to_have_text("has run")
    expect(opened.cell(0).locator(".jupyter-applet-run")).to_have_count(0)
    opened.page.close()


def test_with_run_ask_the_kernels_own_applets_wait_too(open_notebook: OpenNotebook, start_lab: StartLab) -> None:
    lab = start_lab(["--JupyterApplets.run=ask"])
    notebook = open_notebook([applet_cell("own", **RUNS)], lab=lab)
    notebook.run_all()
    panel = notebook.cell(0).locator(".jupyter-applet-run")
    expect(panel).to_be_visible()
    name, message = notebook.error("app_query('own', 'manifest', timeout=0.2)")
    assert name in ("NotShown", "NotReady"), message
    decide(panel.get_by_role("button", name="Run", exact=True))
    expect(notebook.applet(0).locator("#ran")).to_have_text("has run")
    # A cell that is moved asks nobody again; another content does.
    notebook.add_cell("")
    notebook.move_cell(0, "down")
    expect(notebook.applet(1).locator("#ran")).to_have_text("has run")
    notebook.run("own.set_content(js='ran.textContent = 2')")
    panel = notebook.cell(1).locator(".jupyter-applet-run")
    decide(panel.get_by_role("button", name="Always run"))
    expect(notebook.applet(1).locator("#ran")).to_have_text("2")
    assert notebook.value("own.decisions") == {"run": True}
    # It holds for the next server too.
    assert "own" in (lab.root / ".jupyter-applets" / "permissions.json").read_text()
