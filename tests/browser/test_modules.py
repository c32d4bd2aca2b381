"""Applets of several files: modules, workers and WebAssembly, offline, under the policy that every applet has."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from .applets import applet_cell
from .conftest import OpenNotebook, StartLab
from .notebook import Notebook

PACKAGES = Path(__file__).parents[2] / "js" / "node_modules"

# add(a, b), as a compiler writes it.
WASM = bytes.fromhex("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b")

OUT = "<output id=out>waiting</output>"
SHOW = "const show = (value) => { out.textContent = JSON.stringify(value); };\n"


def write_folder(root: Path, slug: str, files: dict[str, str | bytes], modules: str = "{}") -> Path:
    folder = root / "applets" / slug
    declared = f'{{"appProtocol": true, "modules": {modules}}}'
    own = {"meta.json": '{"name": "Modules"}', "app.json": declared, "content.html": OUT, **files}
    for name, content in own.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def show_folder(
    notebook: Notebook, slug: str, files: dict[str, str | bytes], modules: str = "{}", *, shows: str | None = None
) -> int:
    write_folder(notebook.lab.root, slug, files, modules)
    cell = notebook.run(f"app = Applet.load({slug!r})\napp")
    if shows is not None:
        expect(notebook.applet(cell).locator("output")).to_have_text(shows)
        # Nothing was asked of the person, and nothing failed.
        expect(notebook.cell(cell).locator(".jupyter-applet-bar, .jupyter-applet-error")).to_have_count(0)
    return cell


# ── imports ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_script_imports_a_sibling_file(notebook: Notebook) -> None:
    files: dict[str, str | bytes] = {
        "script.js": SHOW + 'import { twice } from "./util.js";\nimport "./effects/mark.js";\nshow([twice(21), mark]);',
        "util.js": "export const twice = (n) => n * 2;",
        "effects/mark.js": "import { twice } from '../util.js';\nglobalThis.mark = twice('1');",
    }
    cell = show_folder(notebook, "siblings", files, shows="[42,2]")
    # An edit of a module reloads it too.
    (notebook.lab.root / "applets" / "siblings" / "util.js").write_text("export const twice = (n) => n * 3;")
    expect(notebook.applet(cell).locator("output")).to_have_text("[63,3]")


def test_names_of_app_json_are_imported(notebook: Notebook) -> None:
    files: dict[str, str | bytes] = {
        "script.js": SHOW + 'import lib, { part } from "lib";\nimport { x } from "@scope/x";\nshow([lib(), part, x]);',
        "vendor/lib.mjs": 'import { base } from "./base.mjs";\nexport default () => base + 1;\nexport const part = 3;',
        "vendor/base.mjs": "export const base = 1;",
        "vendor/x.js": 'export { base as x } from "./base.mjs";',
    }
    modules = '{"lib": "vendor/lib.mjs", "@scope/x": "./vendor/x.js"}'
    show_folder(notebook, "named", files, modules, shows="[2,3,1]")


def test_modules_are_given_as_source_or_as_a_path(notebook: Notebook) -> None:
    source = "import { word } from 'words';\nexport const loud = word.toUpperCase();"
    (notebook.lab.root / "given.mjs").write_text(source)
    js = SHOW + "import { word } from 'words';\nimport { loud } from 'loud';\nshow([word, loud]);"
    for path in ("'given.mjs'", "Path('given.mjs')"):
        modules = "{'words': 'export const word = `word`;', 'loud': " + path + "}"
        cell = notebook.run(f"from pathlib import Path\napp = Applet({OUT!r}, {js!r}, modules={modules})\napp")
        expect(notebook.applet(cell).locator("output")).to_have_text('["word","WORD"]')
    # Saved, its modules are files of the folder; and loaded again, they are the same.
    notebook.run("app.save('given')")
    folder = notebook.lab.root / "applets" / "given"
    assert (folder / "modules" / "words.mjs").read_text() == "export const word = `word`;"
    again = notebook.run("Applet.load('given', 'given-again')")
    expect(notebook.applet(again).locator("output")).to_have_text('["word","WORD"]')
    assert notebook.error("Applet(modules={'x': 'missing.mjs'})")[0] == "FileNotFoundError"


def test_modules_may_import_each_other_in_a_circle(notebook: Notebook) -> None:
    files: dict[str, str | bytes] = {
        "script.js": SHOW + "import { isEven } from './even.js';\nshow([isEven(10), isEven(7)]);",
        "even.js": "import { isOdd } from './odd.js';\nexport const isEven = (n) => n === 0 || isOdd(n - 1);",
        "odd.js": "import { isEven } from './even.js';\nexport const isOdd = (n) => n !== 0 && isEven(n - 1);",
    }
    show_folder(notebook, "circle", files, shows="[true,false]")


def test_modules_are_imported_by_computed_names_and_know_their_place(notebook: Notebook) -> None:
    script = """
      const name = 'late';
      const { word } = await import(`./parts/${name}.js`);
      const again = await import('./parts/late.js');
      const data = await import('./data.json', { with: { type: 'json' } });
      const text = await (await fetch(new URL('./note.txt', import.meta.url))).text();
      const missing = await import('./missing.js').catch((error) => error.constructor.name);
      show([word, again.word === word, again.place, import.meta.url, data.default.n, text, missing]);
    """
    files: dict[str, str | bytes] = {
        "script.js": "// @module\n" + SHOW + script,
        "parts/late.js": "export const word = 'late'; export const place = new URL('../x', import.meta.url).href;",
        "data.json": '{"n": 3}',
        "note.txt": "noted",
    }
    expected = '["late",true,"applet:/x","applet:/script.js",3,"noted","TypeError"]'
    show_folder(notebook, "computed", files, shows=expected)


def test_classic_script_may_import_a_module_too(notebook: Notebook) -> None:
    script = SHOW + "var classic = 1;\nimport('./part.js').then(({ part }) => show([part, window.classic]));"
    show_folder(notebook, "classic", {"script.js": script, "part.js": "export const part = 'p';"}, shows='["p",1]')


def test_scripts_of_the_html_are_files_of_the_folder(notebook: Notebook) -> None:
    html = """
      <link rel=stylesheet href="look.css">
      <script src="first.js"></script>
      <script>window.order.push('inline');</script>
      <script type=module src="./second.js"></script>
      <img src="pixel.svg" id=picture>
    """
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"><rect width="7" height="5" fill="red"/></svg>'
    files: dict[str, str | bytes] = {
        "content.html": OUT + html,
        "first.js": "window.order = ['first'];",
        "second.js": "import { done } from './third.js';\nwindow.order.push('second', done);",
        "third.js": "export const done = 'third';",
        "script.js": SHOW + "window.order.push('js');\nshow(window.order);",
        "look.css": "output { color: rgb(4, 5, 6) }",
        "pixel.svg": svg,
    }
    cell = show_folder(notebook, "scripts", files, shows='["first","inline","second","third","js"]')
    out = notebook.applet(cell).locator("output")
    expect(out).to_have_css("color", "rgb(4, 5, 6)")
    notebook.applet_frame(cell).wait_for_function("picture.naturalWidth === 7")


# ── workers and WebAssembly ──────────────────────────────────────────────────────────────────────────────────────────


def test_workers_run_from_files(notebook: Notebook) -> None:
    script = """
      const ask = (worker, n) => new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => reject(new Error(event.message));
        worker.postMessage(n);
      });
      show([
        await ask(new Worker('classic.js'), 2),
        await ask(new Worker(new URL('./classic.js', import.meta.url)), 3),
        await ask(new Worker(new URL('./work/module.js', import.meta.url), { type: 'module' }), 4),
        await ask(new Worker(URL.createObjectURL(new Blob(['onmessage = ({ data }) => postMessage(data)']))), 5),
      ]);
    """
    files: dict[str, str | bytes] = {
        "script.js": "// @module\n" + SHOW + script,
        "classic.js": "onmessage = ({ data }) => postMessage(['classic', data * 10]);",
        "work/module.js": "import { times } from '../times.js';\n"
        "import lib from 'lib';\nonmessage = ({ data }) => postMessage([lib, times(data)]);",
        "times.js": "export const times = (n) => n * 100;",
        "vendor/lib.mjs": "export default 'module';",
    }
    expected = '[["classic",20],["classic",30],["module",400],5]'
    show_folder(notebook, "workers", files, '{"lib": "vendor/lib.mjs"}', shows=expected)


def test_webassembly_runs_from_a_file(notebook: Notebook) -> None:
    script = """
      const place = new URL('./add.wasm', import.meta.url);
      const bytes = await (await fetch(place)).arrayBuffer();
      const { instance } = await WebAssembly.instantiate(bytes);
      const streamed = await WebAssembly.instantiateStreaming(fetch('applet:/add.wasm'));
      show([instance.exports.add(40, 2), streamed.instance.exports.add(1, 2), bytes.byteLength]);
    """
    files: dict[str, str | bytes] = {"script.js": "// @module\n" + SHOW + script, "add.wasm": WASM}
    show_folder(notebook, "wasm", files, shows=f"[42,3,{len(WASM)}]")


# ── other people's libraries ─────────────────────────────────────────────────────────────────────────────────────────


def test_library_of_many_files_is_used_offline(notebook: Notebook) -> None:
    package = PACKAGES / "entities" / "dist" / "esm"
    files: dict[str, str | bytes] = {
        f"vendor/entities/{path.relative_to(package)}": path.read_bytes() for path in package.rglob("*.js")
    }
    files["script.js"] = SHOW + (
        "import { decodeHTML, encodeXML } from 'entities';\nshow([decodeHTML('&Auml;&copy;'), encodeXML('<ä>')]);"
    )
    modules = '{"entities": "vendor/entities/index.js"}'
    show_folder(notebook, "entities", files, modules, shows='["Ä©","&lt;&#xe4;&gt;"]')


def test_library_of_one_large_file_is_used_offline(notebook: Notebook) -> None:
    js = SHOW + (
        "import { expect } from 'chai';\n"
        "let told = '';\n"
        "try { expect([1, 2]).to.include(3); } catch (error) { told = error.message; }\nshow(told);"
    )
    path = str(PACKAGES / "chai" / "index.js")
    cell = notebook.run(applet_cell(html=OUT, js=js, modules={"chai": path}))
    expect(notebook.applet(cell).locator("output")).to_have_text('"expected [ 1, 2 ] to include 3"')


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("files", "where", "what"),
    [
        ({"part.js": "export const a = 1;\n\n  missing();\n"}, "part.js:3:3", "missing is not defined"),
        ({"part.js": "export const a = 1;\nlet b = ;\n"}, "part.js:2", "SyntaxError"),
        (
            {"part.js": "import { x } from './other.js';\nx();", "other.js": "\n\nexport const x = () => nope();"},
            "other.js:3",
            "nope is not defined",
        ),
        ({"part.js": "import './gone.js';"}, "", "part.js imports './gone.js', which is not among the applet's files"),
        ({"part.js": "import gone from 'gone';"}, "", "gone"),
        ({"part.js": "import { y } from './other.js';", "other.js": "export const x = 1;"}, "part.js:1", "'y'"),
    ],
    ids=["throws", "does not parse", "throws in another", "file missing", "name missing", "export missing"],
)
def test_error_in_a_module_is_shown_with_its_file_and_line(
    notebook: Notebook, request: pytest.FixtureRequest, files: dict[str, str | bytes], where: str, what: str
) -> None:
    slug = "broken-" + request.node.callspec.id.replace(" ", "-")
    cell = show_folder(notebook, slug, {"script.js": "// one\nimport './part.js';", **files})
    panel = notebook.cell(cell).locator(".jupyter-applet-error")
    expect(panel).to_contain_text(where)
    expect(panel).to_contain_text(what)


# ── without the extension ────────────────────────────────────────────────────────────────────────────────────────────


def test_modules_and_workers_run_where_the_page_reaches_only_the_kernel(
    open_notebook: OpenNotebook, start_lab: StartLab
) -> None:
    lab = start_lab(extension=False)
    script = """
      import lib from 'lib';
      import { twice } from './util.js';
      const { instance } = await WebAssembly.instantiate(await (await fetch('applet:/add.wasm')).arrayBuffer());
      const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => show([lib, twice(4), instance.exports.add(1, 1), data]);
      worker.postMessage(3);
    """
    files: dict[str, str | bytes] = {
        "script.js": SHOW + script,
        "util.js": "export const twice = (n) => n * 2;",
        "worker.js": "import { twice } from './util.js';\nonmessage = ({ data }) => postMessage(twice(data));",
        "vendor/lib.mjs": "export default 'lib';",
        "add.wasm": WASM,
    }
    write_folder(lab.root, "local", files, '{"lib": "vendor/lib.mjs"}')
    notebook = open_notebook(["from jupyter_applets import *\napp = Applet.load('local')\napp"], lab=lab)
    notebook.run_all()
    expect(notebook.applet(0).locator("output")).to_have_text('["lib",8,2,6]')
    (lab.root / "applets" / "local" / "vendor" / "lib.mjs").write_text("export default 'edited';")
    expect(notebook.applet(0).locator("output")).to_have_text('["edited",8,2,6]')
