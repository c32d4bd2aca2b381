"""Files of the workspace from inside an applet: seed 004's text applet as printed, the SDK's calls, images, changes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .applets import applet_cell
from .conftest import OpenNotebook, StartLab
from .deciding import decide
from .notebook import Notebook
from .test_desk import Desk, open_desk

# Seed 004, "Use Case: Text Applet", as printed there but for the path.
TEXT_HTML = """\
<div class="text-applet">
  <div class="toolbar">
    <span class="filename" id="filename"></span>
    <button id="saveBtn">Save</button>
    <span id="status"></span>
  </div>
  <textarea id="content" spellcheck="false"></textarea>
</div>
"""
TEXT_JS = """\
const filePath = '/home/user/project/config.yaml';

// Load file content
async function loadFile() {
  const res = await fetch(`/api/applet/file?path=${encodeURIComponent(filePath)}`);
  const { content } = await res.json();
  document.getElementById('content').value = content;
  document.getElementById('filename').textContent = filePath.split('/').pop();
}

// Save file content
document.getElementById('saveBtn').onclick = async () => {
  const content = document.getElementById('content').value;
  const res = await fetch(`/api/applet/file?path=${encodeURIComponent(filePath)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ content })
  });
  document.getElementById('status').textContent = res.ok ? 'Saved!' : 'Error';
  setTimeout(() => document.getElementById('status').textContent = '', 2000);
};

loadFile();
"""
TEXT_CSS = """\
.text-applet { display: flex; flex-direction: column; height: 100%; }
.toolbar { display: flex; gap: 1rem; padding: 0.5rem; background: #1e1e1e; }
.filename { flex: 1; color: #888; }
#content { flex: 1; font-family: monospace; background: #0d0d0d; color: #d4d4d4; 
           border: none; padding: 1rem; resize: none; }
#saveBtn { background: #0e639c; color: white; border: none; padding: 0.25rem 1rem; cursor: pointer; }
#status { color: #4ec9b0; }
"""  # noqa: W291

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
PLAIN = applet_cell("files", html="<p>files", permissions={"files": "write"})


def outcome(call: str) -> str:
    """What a call inside the applet gives, or the code of its error."""
    return f"(async () => {{ try {{ return await {call} }} catch (error) {{ return error.code ?? String(error) }} }})()"


@pytest.fixture
def project(notebook: Notebook) -> Path:
    folder = notebook.lab.root / "project"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text("port: 8080\n")
    return folder


# ── seed 004 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def edit_and_save(desk: Desk, path: Path, *, ask: bool) -> None:
    applet, page = desk.front, desk.element
    if ask:
        bar = page.get_by_text(f"“Config” wants to read “{path}”.")
        expect(bar).to_be_visible()
        decide(page.get_by_role("button", name="Allow once"))
    expect(applet.locator("#content")).to_have_value("port: 8080\n")
    expect(applet.locator("#filename")).to_have_text("config.yaml")
    applet.locator("#content").fill("port: 9090\nhost: ö\n")
    applet.locator("#saveBtn").click()
    if ask:
        expect(page.get_by_text(f"“Config” wants to change “{path}”.")).to_be_visible()
        assert path.read_text() == "port: 8080\n"
        decide(page.get_by_role("button", name="Allow once"))
    expect(applet.locator("#status")).to_have_text("Saved!")
    assert path.read_text("utf-8") == "port: 9090\nhost: ö\n"


@pytest.mark.parametrize("given", ["{}", "{'files': 'write'}"])
def test_text_applet_of_the_seed_loads_edits_and_saves(notebook: Notebook, project: Path, given: str) -> None:
    path = project / "config.yaml"
    js = TEXT_JS.replace("/home/user/project/config.yaml", str(path))
    desk = open_desk(notebook)
    notebook.run(f"set_applet_content({TEXT_HTML!r}, {js!r}, {TEXT_CSS!r}, title='Config', permissions={given})")
    edit_and_save(desk, path, ask=given == "{}")
    # It fills its place, as its style asks.
    height = desk.front.locator(".text-applet").evaluate("element => [element.offsetHeight, innerHeight]")
    assert height[0] > 0.9 * height[1] > 100


# ── the SDK ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_files_are_read_written_and_listed(notebook: Notebook, project: Path) -> None:
    (project / "data.bin").write_bytes(bytes(range(256)))
    (project / "sub").mkdir(exist_ok=True)
    frame = notebook.applet_frame(notebook.run(PLAIN))
    assert frame.evaluate("readFile('project/config.yaml')") == "port: 8080\n"
    assert frame.evaluate(f"readFile({str(project / 'config.yaml')!r})") == "port: 8080\n"
    assert frame.evaluate("readFile('project/data.bin', { as: 'bytes' }).then((bytes) => [...bytes])") == list(
        range(256)
    )
    assert frame.evaluate(outcome("readFile('project/data.bin')")) == "NOT_TEXT"
    listed = frame.evaluate("listFiles('project')")
    assert {(file["name"], file["type"]) for file in listed} >= {
        ("config.yaml", "file"),
        ("data.bin", "file"),
        ("sub", "directory"),
    }
    assert next(file["size"] for file in listed if file["name"] == "data.bin") == 256

    # Bytes of every kind, in a folder that is not there yet.
    for made in ("new Uint8Array([0, 255])", "new Uint8Array([0, 255]).buffer", "new Blob([new Uint8Array([0, 255])])"):
        version = frame.evaluate(f"writeFile('project/new/out.bin', {made})")["version"]
        assert version
        assert (project / "new" / "out.bin").read_bytes() == b"\x00\xff"
    frame.evaluate("writeFile('project/out.json', JSON.stringify({ ö: 1 }))")
    assert (project / "out.json").read_text("utf-8") == '{"ö":1}'
    assert frame.evaluate("readFile('project/out.json', { as: 'json' })") == {"ö": 1}

    # What somebody else has changed meanwhile is not overwritten.
    known = frame.evaluate("writeFile('project/shared.txt', 'mine').then(({ version }) => version)")
    (project / "shared.txt").write_text("theirs")
    call = f"writeFile('project/shared.txt', 'mine again', {{ ifMatch: {known!r} }})"
    assert frame.evaluate(outcome(call)) == "VERSION_CONFLICT"
    assert (project / "shared.txt").read_text() == "theirs"


def test_paths_that_are_no_ones_are_refused_with_a_code(notebook: Notebook, project: Path) -> None:
    (notebook.lab.root / ".env").write_text("SECRET=1")
    (project / "out").unlink(missing_ok=True)
    (project / "out").symlink_to("/etc")
    frame = notebook.applet_frame(notebook.run(PLAIN))
    for path in (
        "../outside.txt",
        "/etc/passwd",
        ".env",
        "project/out/passwd",
        ".git/config",
        "project/../../x",
    ):
        assert frame.evaluate(outcome(f"readFile({path!r})")) in ("PATH_REFUSED", "FILE_MISSING"), path
        assert frame.evaluate(outcome(f"writeFile({path!r}, 'x')")) == "PATH_REFUSED", path
    assert frame.evaluate(outcome("readFile('.env')")) == "PATH_REFUSED"
    assert frame.evaluate(outcome("listFiles('.jupyter-applets')")) == "PATH_REFUSED"
    assert frame.evaluate(outcome("readFile('project/none.txt')")) == "FILE_MISSING"
    fetched = "fetch('/api/applet/file?path=%s').then(async (r) => [r.status, (await r.json()).code])"
    assert frame.evaluate(fetched % ".env") == [403, "PATH_REFUSED"]
    assert frame.evaluate(fetched % "project/none.txt") == [404, "FILE_MISSING"]
    assert (notebook.lab.root / ".env").read_text() == "SECRET=1"


def test_fetch_of_the_seeds_endpoints(notebook: Notebook, project: Path) -> None:
    (project / "data.bin").write_bytes(b"\x00\xff")
    frame = notebook.applet_frame(notebook.run(PLAIN))
    got = "fetch('/api/applet/%s').then((response) => response.json())"
    assert frame.evaluate(got % "file?path=project/config.yaml")["content"] == "port: 8080\n"
    found = frame.evaluate(got % "file?path=project%2Fdata.bin")
    assert (found["content"], found["encoding"]) == ("AP8=", "base64")
    assert "config.yaml" in [file["name"] for file in frame.evaluate(got % "list?path=project")["files"]]
    post = "fetch('/api/applet/%s', { method: 'POST', body: JSON.stringify(%s) }).then((r) => r.json())"
    written = frame.evaluate(post % ("file?path=project/post.bin", "{ content: 'AP8=', encoding: 'base64' }"))
    assert written["ok"] is True
    assert (project / "post.bin").read_bytes() == b"\x00\xff"
    assert frame.evaluate(post % ("state", "{ data: { posted: 1 } }"))["ok"] is True
    assert notebook.value("files.wait_for_state('posted', timeout=10)") == 1
    assert frame.evaluate(got % "state")["state"] == {"posted": 1}


HEARING = (
    "window.heard = []; window.stop = subscribeFile(%r, ({ path, event }) => heard.push(`${event} ${path}`)); null"
)


def wait_heard(frame: Any, text: str) -> None:
    frame.wait_for_function("text => heard.includes(text)", arg=text)


def test_changes_on_disk_are_heard(notebook: Notebook, project: Path) -> None:
    frame = notebook.applet_frame(notebook.run(PLAIN))
    frame.evaluate(HEARING % "project")
    path = project / "watched.txt"
    path.unlink(missing_ok=True)
    # Nobody is told when watching has begun; the first change that is heard tells.
    frame.wait_for_function("writeFile('project/first.txt', String(Math.random())).then(() => heard.length > 0)")
    path.write_text("one")
    wait_heard(frame, "created project/watched.txt")
    path.write_text("one and two")
    wait_heard(frame, "modified project/watched.txt")
    # As editors save.
    frame.evaluate("heard.length = 0")
    (project / "watched.tmp").write_text("replaced")
    (project / "watched.tmp").replace(path)
    wait_heard(frame, "modified project/watched.txt")
    path.unlink()
    wait_heard(frame, "deleted project/watched.txt")
    frame.evaluate("stop(), heard.length = 0")
    frame.evaluate("writeFile('project/first.txt', 'y')")
    assert frame.evaluate("heard") == []


def test_images_of_the_workspace_are_shown(notebook: Notebook, project: Path) -> None:
    (notebook.lab.root / "plots").mkdir(exist_ok=True)
    (notebook.lab.root / "plots" / "a.gif").write_bytes(GIF)
    js = "applet.files.url('plots/a.gif').then((url) => { byUrl.src = url })"
    html = '<img id=fixed src="plots/a.gif"><img id=byUrl>'
    cell = notebook.run(applet_cell("pictures", html=html, js=js, permissions={"files": "read"}))
    for name in ("fixed", "byUrl"):
        expect(notebook.applet(cell).locator(f"#{name}")).to_have_js_property("naturalWidth", 1)
    assert notebook.applet_frame(cell).evaluate(
        outcome("fetch(byUrl.src).then(async (r) => (await r.blob()).type)")
    ) == ("image/gif")


# ── no extension ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_the_extension_state_and_files_work_too(open_notebook: OpenNotebook, start_lab: StartLab) -> None:
    lab = start_lab(extension=False)
    (lab.root / "note.txt").write_text("from disk")
    notebook = open_notebook([PLAIN, applet_cell("asking", html="<p>ask", title="Asking")], lab=lab)
    notebook.run_all()
    frame = notebook.applet_frame(0)
    assert frame.evaluate("readFile('note.txt')") == "from disk"
    assert frame.evaluate("listFiles().then((files) => files.map(({ name }) => name))").count("note.txt") == 1
    assert frame.evaluate("writeFile('made.bin', new Uint8Array([0, 255])).then(({ version }) => Boolean(version))")
    assert (lab.root / "made.bin").read_bytes() == b"\x00\xff"
    assert frame.evaluate(outcome("readFile('../x')")) == "PATH_REFUSED"
    frame.evaluate(HEARING % "note.txt")
    frame.evaluate("writeFile('made.bin', 'x')")
    (lab.root / "note.txt").write_text("changed on disk")
    wait_heard(frame, "modified note.txt")
    fetched = "fetch('/api/applet/file?path=note.txt').then(async (r) => (await r.json()).content)"
    assert frame.evaluate(fetched) == "changed on disk"

    # State both ways.
    frame.evaluate("onStateUpdate((data) => { window.pushed = data.n }), setAppletState({ word: 'set' })")
    assert notebook.value("await files.await_for_state('word', timeout=20)") == "set"
    notebook.run("for i in range(20_000): files.push(n=i)")
    frame.wait_for_function("window.pushed === 19_999")

    # And a person is asked.
    asking = notebook.applet_frame(1)
    asking.evaluate("void readFile('note.txt').then((text) => { window.text = text })")
    expect(notebook.cell(1).get_by_text("“Asking” wants to read “note.txt”.")).to_be_visible()
    decide(notebook.cell(1).get_by_role("button", name="Always for this applet"))
    asking.wait_for_function("window.text === 'changed on disk'")
    notebook.reload()
    expect(notebook.applet(0).locator("p")).to_have_text("files")
    assert notebook.applet_frame(1).evaluate("readFile('note.txt')") == "changed on disk"
