"""The frame and the SDK: how HTML and JS become a document, how tall it is, and what it shows when something fails."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from .applets import applet_cell
from .notebook import Notebook


def frame_of(notebook: Notebook, cell: int) -> Locator:
    return notebook.cell(cell).locator(".jupyter-applet iframe")


def height_of(notebook: Notebook, cell: int) -> float:
    box = frame_of(notebook, cell).bounding_box()
    assert box is not None
    return box["height"]


# ── the document ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_fragment_sits_in_the_applet_view(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<p id=p>one</p><p>two", css="#appletView p { color: rgb(1, 2, 3) }"))
    view = notebook.applet(cell).locator("body > #appletView > p")
    expect(view).to_have_text(["one", "two"])
    expect(view.first).to_have_css("color", "rgb(1, 2, 3)")
    assert notebook.applet_frame(cell).evaluate("document.compatMode") == "CSS1Compat"


def test_whole_document_keeps_its_own_head_and_the_sdk_comes_first(notebook: Notebook) -> None:
    html = """<!-- mine --><!DOCTYPE html>
      <html lang="de"><head data-own><title>Mein Blatt</title>
      <script>window.early = typeof window.yaar.app.register;</script></head>
      <body class="own"><p>ganz</p>
      <script>window.inBody = document.querySelectorAll('p').length</script></body></html>"""
    cell = notebook.run(applet_cell(html=html, js="window.late = document.title"))
    expect(notebook.applet(cell).locator("body.own > p")).to_have_text("ganz")
    seen = notebook.applet_frame(cell).evaluate(
        "[early, inBody, late, document.documentElement.lang, document.head.hasAttribute('data-own'),"
        " document.getElementById('appletView')]"
    )
    assert seen == ["function", 1, "Mein Blatt", "de", True, None]


def test_js_is_a_global_script_so_that_onclick_finds_its_functions(notebook: Notebook) -> None:
    html = "<button onclick='go()'>Go</button><output id=out></output>"
    cell = notebook.run(applet_cell(html=html, js="const word = 'gone';\nfunction go() { out.textContent = word; }"))
    notebook.applet(cell).get_by_role("button").click()
    expect(notebook.applet(cell).locator("output")).to_have_text("gone")


def test_js_with_import_or_export_is_a_module(notebook: Notebook) -> None:
    imported = "import { word } from 'data:text/javascript,export const word = \"imported\"';\nout.textContent = word;"
    first = notebook.run(applet_cell("first", html="<output id=out></output>", js=imported))
    exported = "export const x = 1;\nout.textContent = `${typeof this} ${await Promise.resolve('awaited')}`;"
    second = notebook.run(applet_cell("second", html="<output id=out></output>", js=exported))
    marked = "// @module\nvar hidden = 1;\nout.textContent = typeof window.hidden;"
    third = notebook.run(applet_cell("third", html="<output id=out></output>", js=marked))
    # The word alone makes no module: `import()` and a text stand in scripts too.
    script = "var seen = 'export default';\nout.textContent = typeof window.seen;\nimport('data:text/javascript,');"
    fourth = notebook.run(applet_cell("fourth", html="<output id=out></output>", js=script))
    for cell, text in {first: "imported", second: "undefined awaited", third: "undefined", fourth: "string"}.items():
        expect(notebook.applet(cell).locator("output")).to_have_text(text)


def test_js_may_write_its_document_anew(notebook: Notebook) -> None:
    js = """
      document.write('<b>written</b>'); document.close();
      window.yaar.app.register({ appId: 'w', state: { text: { handler: () => document.body.textContent } } });
    """
    cell = notebook.run(applet_cell(html="<p>old", js=js))
    expect(notebook.applet(cell).locator("b")).to_be_visible()
    assert notebook.value("app.query('text')") == "written"


def test_texts_that_look_like_tags_do_not_end_the_script(notebook: Notebook) -> None:
    js = "out.textContent = '</script><!--<script>\\u2028' + \"&quot;\";"
    css = "p::after { content: '</style>' }"
    cell = notebook.run(applet_cell(html="<p>a</p><output id=out></output>", js=js, css=css))
    expect(notebook.applet(cell).locator("output")).to_have_text("</script><!--<script>\u2028&quot;")
    expect(notebook.applet(cell).locator("body")).to_have_count(1)


RAW_HTML = """<!doctype html><output id=out>0</output><script>
let count = 0;
const manifest = {
  appId: 'raw', name: 'Raw',
  state: { count: { description: 'The count' } },
  commands: { add: { description: 'Add', params: { type: 'object', required: ['by'] } } },
};
addEventListener('message', ({ data, source }) => {
  if (source !== parent || typeof data?.type !== 'string' || !data.type.startsWith('yaar:')) return;
  const { requestId } = data;
  const answer = (kind, fields) => parent.postMessage({ type: `yaar:app-${kind}-response`, requestId, ...fields }, '*');
  if (data.type === 'yaar:app-manifest-request') answer('manifest', { manifest, error: null });
  if (data.type === 'yaar:app-query-request') answer('query', { data: count });
  if (data.type === 'yaar:app-command-request') {
    if (data.params.by < 0) return answer('command', { result: null, error: 'only up' });
    out.textContent = count += data.params.by;
    answer('command', { result: { ok: true }, error: null });
  }
});
parent.postMessage({ type: 'yaar:app-ready', appId: 'raw' }, '*');
</script>
<button onclick="parent.postMessage({ type: 'yaar:app-interaction', content: 'raw click' }, '*')">Tell</button>"""


def test_applet_that_speaks_raw_window_messages_answers_too(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("raw", html=RAW_HTML) + "\nheard = []\nraw.on_interaction(heard.append)")
    assert notebook.value("raw.query('manifest')['commands']['add']['description']") == "Add"
    assert notebook.value("[raw.command('add', by=2), raw.query('count')]") == [{"ok": True}, 2]
    assert notebook.error("raw.command('add', by=-1)") == ("HandlerFailed", "only up")
    assert notebook.error("raw.command('add')")[0] == "InvalidParams"
    assert notebook.error("raw.query('counts')")[0] == "UnknownStateKey"
    notebook.applet(cell).get_by_role("button").click()
    notebook.applet(cell).get_by_role("button").click()
    # Between the click and the callback lie the page, the server and the kernel.
    notebook.run("import asyncio\nasync with asyncio.timeout(10):\n  while len(heard) < 2: await asyncio.sleep(0.01)")
    assert notebook.value("heard") == ["raw click", "raw click"]
    notebook.move_cell(cell, "up")
    expect(notebook.applet(cell - 1).locator("#out")).to_have_text("2")


def test_local_storage_works(notebook: Notebook) -> None:
    js = """
      localStorage.setItem('a', 1); localStorage.b = 'two'; sessionStorage.c = 3; delete localStorage.a;
      out.textContent = [localStorage.getItem('a'), localStorage.b, localStorage.length, localStorage.key(0),
        'b' in localStorage, Object.keys(localStorage), sessionStorage.getItem('c')].join('|');
    """
    cell = notebook.run(applet_cell(html="<output id=out></output>", js=js))
    expect(notebook.applet(cell).locator("output")).to_have_text("|two|1|b|true|b|3")


# ── links and forms ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_links_anchors_and_forms_do_not_destroy_the_applet(notebook: Notebook) -> None:
    html = """
      <a href="https://example.invalid/page">Away</a> <a href="other.html">Relative</a> <a href="#end">Down</a>
      <form action="/save" method="post"><input name=q value=1><button>Submit</button></form>
      <form id=taken><button>Taken</button></form>
      <div style="height: 900px"></div><p id=end>The end</p>
    """
    js = "let submits = 0;\ntaken.onsubmit = (event) => { event.preventDefault(); submits += 1; };"
    cell = notebook.run(applet_cell(html=html, js=js, height=200))
    applet = notebook.applet(cell)
    frame = notebook.applet_frame(cell)
    frame.evaluate("window.marker = true")
    applet.get_by_role("link", name="Away").click()
    applet.get_by_role("link", name="Relative").click()
    applet.get_by_role("button", name="Submit").click()
    applet.get_by_role("button", name="Taken").click()
    applet.locator("input").press("Enter")
    # Where the link would have gone is shown, so that a person can copy it.
    expect(notebook.cell(cell).locator(".jupyter-applet-bar")).to_contain_text("https://example.invalid/page")
    applet.get_by_role("link", name="Down").click()
    expect(applet.locator("#end")).to_be_in_viewport()
    assert frame.evaluate("[marker, submits, location.href]") == [True, 1, "about:srcdoc"]


# ── its height ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_output_grows_and_shrinks_with_the_content(notebook: Notebook) -> None:
    html = "<div id=box style='height: 100px'>x</div>"
    cell = notebook.run(applet_cell(html=html))
    box = notebook.applet(cell).locator("#box")
    # 8 px of padding above and below.
    for height in (100, 700, 50):
        box.evaluate("(box, height) => { box.style.height = `${height}px`; }", height)
        expect(frame_of(notebook, cell)).to_have_css("height", f"{height + 16}px")
    expect(notebook.cell(cell).locator(".jupyter-applet")).to_have_attribute("data-state", "shown")


@pytest.mark.parametrize(("height", "pixels"), [(150, "150px"), ("20em", "260px"), ("0", "0px")])
def test_height_fixes_it(notebook: Notebook, height: int | str, pixels: str) -> None:
    cell = notebook.run(applet_cell(html="<div style='height: 500px'>x</div>", height=height))
    expect(notebook.cell(cell).locator(".jupyter-applet")).to_have_attribute("data-state", "shown")
    expect(frame_of(notebook, cell)).to_have_css("height", pixels)


def test_height_can_be_changed_without_a_reload(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<div style='height: 84px'>x</div>"))
    expect(frame_of(notebook, cell)).to_have_css("height", "100px")
    notebook.applet_frame(cell).evaluate("window.marker = true")
    notebook.run("app.height = 321")
    expect(frame_of(notebook, cell)).to_have_css("height", "321px")
    notebook.run("app.height = None")
    expect(frame_of(notebook, cell)).to_have_css("height", "100px")
    assert notebook.applet_frame(cell).evaluate("window.marker") is True


def test_content_as_tall_as_its_frame_does_not_grow_for_ever(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell(html="<div style='height: 100vh'>x</div>"))
    expect(notebook.cell(cell).locator(".jupyter-applet")).to_have_attribute("data-state", "shown")
    expect(frame_of(notebook, cell)).to_have_css("height", "400px")


# ── what is shown when ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        ({"js": "const a = 1;\n\n  undefinedFunction();"}, "applet.js:3:3", "undefinedFunction is not defined"),
        ({"js": "const a = 1;\nlet a = 2;\n"}, "applet.js:2", "'a' has already been declared"),
        ({"js": "const a = 1;\nif (a {\n"}, "applet.js:2", "SyntaxError"),
        ({"js": "export {};\n\nnull.x;"}, "applet.js:3", "Cannot read properties of null"),
        ({"js": "export {};\nawait 1;\nif (a {\n"}, "applet.js:3", "SyntaxError"),
        ({"js": "\nPromise.reject(new Error('not kept'));"}, "applet.js:2", "not kept"),
        ({"js": "\nyaar.app.register({ state: { a: {} } });"}, "applet.js:2", "needs a handler"),
        ({"html": "<p>a</p>\n<script>\nfirst();\n</script>"}, "applet.html:3:1", "first is not defined"),
        ({"html": "<!doctype html>\n<html>\n<head><script>\nfirst();</script>"}, "applet.html:4:1", "first is not"),
    ],
)
def test_js_that_throws_at_start_shows_its_error_with_the_line(
    notebook: Notebook, content: dict[str, str], where: str, what: str
) -> None:
    cell = notebook.run(applet_cell("broken", **content))
    panel = notebook.cell(cell).locator(".jupyter-applet-error")
    expect(panel).to_have_attribute("role", "alert")
    expect(panel.locator("b")).to_contain_text(where)
    expect(panel.locator("b")).to_contain_text(what)


def test_error_panel_goes_away_with_new_content(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("mended", html="<p>still here", js="oops()"))
    panel = notebook.cell(cell).locator(".jupyter-applet-error")
    expect(panel).to_be_visible()
    # What the applet did show stays in sight.
    expect(notebook.applet(cell).locator("p")).to_have_text("still here")
    notebook.run("mended.set_content(js='document.body.append(`better`)')")
    expect(notebook.applet(cell).locator("body")).to_contain_text("better")
    expect(panel).to_have_count(0)


def test_placeholder_shows_while_an_applet_loads(notebook: Notebook) -> None:
    # A script that keeps its frame busy; the page sees the placeholder meanwhile.
    busy = "<script>for (const end = Date.now() + 1500; Date.now() < end;);</script><p>loaded</p>"
    index = notebook.add_cell(applet_cell("slow", html=busy))
    notebook.start_cell(index)
    place = notebook.cell(index).locator(".jupyter-applet")
    expect(place.get_by_text("Loading the applet…")).to_be_visible()
    expect(notebook.applet(index).locator("p")).to_have_text("loaded")
    expect(place).to_have_attribute("data-state", "shown")
    expect(place.get_by_text("Loading the applet…")).to_have_count(0)
    notebook.wait_done()


def test_applet_that_reloads_itself_is_restored(notebook: Notebook) -> None:
    js = """
      let n = 0;
      applet.app.register({ appId: 'self', state: { n: { handler: () => n } },
        commands: { add: { handler: ({ by }) => (out.textContent = n += by) } } });
    """
    cell = notebook.run(applet_cell("self_", html="<output id=out>0</output>", js=js))
    notebook.run("self_.command('add', by=4)")
    notebook.applet_frame(cell).evaluate(
        "out.textContent = 'leaving'; window.marker = 1; setTimeout(() => location.reload())"
    )
    expect(notebook.applet(cell).locator("#out")).to_have_text("4")
    assert notebook.value("self_.command('add', by=1)") == 5
    assert notebook.applet_frame(cell).evaluate("window.marker ?? null") is None


def test_applet_that_tried_to_leave_can_be_started_again(notebook: Notebook) -> None:
    cell = notebook.run(applet_cell("leaver", html="<p>still here"))
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    notebook.applet_frame(cell).evaluate("setTimeout(() => { location.href = 'https://example.invalid/'; })")
    panel = notebook.cell(cell).locator(".jupyter-applet-error")
    expect(panel).to_contain_text("tried to leave its page")
    # Not the browser's own error page.
    expect(frame_of(notebook, cell)).to_be_hidden()
    panel.get_by_role("button", name="Start again").click()
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    expect(panel).to_have_count(0)
