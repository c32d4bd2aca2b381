"""The applet's frame keeps it in: nothing of the notebook can be read, and nothing leaves except to listed origins.

Known exit, see SECURITY.md: WebRTC, which the SDK removes but a nested frame can bring back.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from ...browser.applets import COUNTER_HTML, COUNTER_JS, applet_cell
from ...browser.deciding import decide
from ...browser.notebook import Notebook
from .loopback import Loopback

pytestmark = pytest.mark.browser


def visit(notebook: Notebook, server: Loopback) -> None:
    """Have the notebook's own page reach the server: what went out before it has arrived by then."""
    for name in ("page-1", "page-2"):
        notebook.page.evaluate("url => fetch(url, { mode: 'no-cors' }).then(() => null)", f"{server.origin}/{name}")


PAGE = ["/page-1", "/page-2"]

# ── what the applet can see ──────────────────────────────────────────────────────────────────────────────────────────


def test_applet_has_an_opaque_origin_and_sees_nothing_of_the_notebook(notebook: Notebook) -> None:
    notebook.page.evaluate("document.cookie = 'readable=secret; path=/'")
    cell = notebook.run(applet_cell("jail", html="<p>jail"))
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    seen: dict[str, Any] = notebook.applet_frame(cell).evaluate(
        """() => {
          const tried = (read) => { try { return String(read()); } catch (error) { return error.name; } };
          document.querySelector('base').remove();
          return {
            origin: self.origin,
            cookie: tried(() => document.cookie),
            parent: tried(() => parent.document.title),
            grandparent: tried(() => parent.parent.document.title),
            top: tried(() => top.document.title),
            config: tried(() => top.jupyterapp),
            frameElement: tried(() => frameElement),
            indexedDB: tried(() => indexedDB.open('x') && 'open'),
            caches: tried(() => typeof caches),
            location: tried(() => location.href),
            base: document.baseURI,
            referrer: document.referrer,
            ancestors: [...(location.ancestorOrigins ?? [])].join(),
            entries: JSON.stringify(performance.getEntries()),
            source: document.documentElement.outerHTML,
            name: self.name,
            opener: String(self.opener),
          };
        }"""
    )
    assert seen["origin"] == "null"
    for what in ("cookie", "parent", "grandparent", "top", "config", "indexedDB"):
        assert seen[what] == "SecurityError", what
    assert seen["frameElement"] in {"null", "SecurityError"}
    assert seen["location"] == "about:srcdoc"
    assert seen["name"] == ""
    assert seen["opener"] == "null"
    # Neither the token nor the notebook's path, not even by way of the base address.
    for what, text in seen.items():
        assert notebook.lab.token not in text, what
        assert notebook.path not in text, what


def test_applet_cannot_read_the_key_of_its_own_handshake(notebook: Notebook) -> None:
    # Everything that its document still holds, and the functions of the SDK.
    js = """
      window.texts = [document.documentElement.outerHTML, ...[...document.scripts].map((s) => s.textContent)];
      window.heard = [];
      addEventListener('message', ({ data }) => heard.push(JSON.stringify(data)));
    """
    cell = notebook.run(applet_cell("key", html="<p>key", js=js))
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    source = notebook.cell(cell).locator(".jupyter-applet iframe").get_attribute("srcdoc") or ""
    key = source.split("</script></head>")[0].rsplit('("', 1)[1].split('"')[0]
    assert len(key) > 20
    frame = notebook.applet_frame(cell)
    assert key not in "".join(frame.evaluate("texts"))
    assert key not in "".join(frame.evaluate("heard"))


# ── what can leave ───────────────────────────────────────────────────────────────────────────────────────────────────

# Each gets the address of a file of its own name. What tells of its failure is waited for.
EXITS = {
    "fetch": "await fetch(url)",
    "keepalive": "await fetch(url, { method: 'POST', keepalive: true, mode: 'no-cors' })",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', url); x.send(); await settled(x)",
    "beacon": "navigator.sendBeacon(url, 'x')",
    "ws": "await settled(new WebSocket(url.replace('http', 'ws')))",
    "events": "const e = new EventSource(url); await settled(e); e.close()",
    "webtransport": "await new WebTransport(url.replace('http:', 'https:')).ready",
    "img": "const i = new Image(); i.src = url; await settled(i)",
    "srcset": "const i = new Image(); i.srcset = url; await settled(i)",
    "audio": "const a = new Audio(url); a.load(); await settled(a)",
    "poster": "put('<video poster=\"' + url + '\"></video>')",
    "background": "put('<div style=\"background: url(' + url + ')\">x</div>')",
    "cssimport": "put('<style>@import \"' + url + '\";</style>')",
    "svg": "put('<svg><image href=\"' + url + '\"/><use href=\"' + url + '#a\"/></svg>')",
    "inputimage": "put('<input type=image src=\"' + url + '\">')",
    "script": "await settled(make('script', { src: url }))",
    "module": "await import(url)",
    "style": "await settled(make('link', { rel: 'stylesheet', href: url }))",
    "font": "await new FontFace('f', 'url(' + url + ')').load()",
    "track": "put('<video controls><track default src=\"' + url + '\"></video>')",
    "prefetch": "make('link', { rel: 'prefetch', href: url })",
    "preload": "await settled(make('link', { rel: 'preload', as: 'image', href: url }))",
    "modulepreload": "await settled(make('link', { rel: 'modulepreload', href: url }))",
    "prerender": "make('link', { rel: 'prerender', href: url })",
    "manifest": "make('link', { rel: 'manifest', href: url })",
    "icon": "make('link', { rel: 'icon', href: url })",
    "speculation": "make('script', { type: 'speculationrules', textContent:"
    " JSON.stringify({ prefetch: [{ urls: [url], eagerness: 'immediate' }] }) })",
    "iframe": "await settled(make('iframe', { src: url }))",
    "object": "make('object', { data: url })",
    "embed": "make('embed', { src: url })",
    "popup": "open(url)",
    "popuplink": "make('a', { href: url, target: '_blank' }).click()",
    "ping": "make('a', { href: '#x', ping: url }).click()",
    "detachedping": "Object.assign(document.createElement('a'), { href: '#x', ping: url }).click()",
    "workerscript": "await settled(new Worker(URL.createObjectURL(new Blob(['importScripts(\"' + url + '\")']))))",
    "workerfetch": "const w = new Worker(URL.createObjectURL(new Blob(['fetch(\"' + url"
    " + '\").finally(() => postMessage(1))']))); await settled(w)",
    "dataworker": "const w = new Worker('data:text/javascript,fetch(\"' + url"
    " + '\").finally(() => postMessage(1))'); await settled(w)",
    "worker": "new Worker(url)",
    "nestedfetch": "make('iframe', { srcdoc: '<script>fetch(\"' + url + '\")</' + 'script>' })",
    "nestednavigation": "make('iframe', { srcdoc: '<script>location = \"' + url + '\"</' + 'script>' })",
    "nestedblob": "make('iframe', { src: URL.createObjectURL(new Blob(['<script>location = \"' + url"
    " + '\"</' + 'script>'], { type: 'text/html' })) })",
    "xslt": "put('<?xml-stylesheet href=\"' + url + '\"?>')",
    "parentfetch": "parent.fetch(url)",
    "parentnavigation": "parent.location = url",
    "topnavigation": "top.location = url",
    "paymentmanifest": "await new PaymentRequest([{ supportedMethods: url }], { total:"
    " { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment()",
}

TRY_JS = """
  const settled = (target) => new Promise((resolve) => {
    for (const type of ['load', 'error', 'open', 'close', 'message', 'loadedmetadata', 'loadend']) {
      target.addEventListener(type, () => resolve(type));
    }
    setTimeout(resolve, 1000, 'silent');
  });
  const make = (tag, properties) => {
    const element = Object.assign(document.createElement(tag), properties);
    document.body.append(element);
    return element;
  };
  const put = (html) => document.body.insertAdjacentHTML('beforeend', html);
  const AsyncFunction = (async () => {}).constructor;
  const tryAll = (exits, origin) => Promise.all(Object.entries(exits).map(async ([name, code]) => {
    const run = new AsyncFunction('url', 'settled', 'make', 'put', code);
    await run(`${origin}/${name}`, settled, make, put).catch(() => {});
  }));
"""


def test_nothing_leaves_by_default(notebook: Notebook, server: Loopback) -> None:
    cell = notebook.run(applet_cell("exits", html="<p>exits", js=TRY_JS))
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    frame = notebook.applet_frame(cell)
    frame.evaluate("([exits, origin]) => tryAll(exits, origin)", [EXITS, server.origin])
    visit(notebook, server)
    assert server.hits == PAGE
    # It is still there, too.
    assert frame.evaluate("document.querySelector('p').textContent.trim()") == "exits"
    # Not even a connection: the page's own two requests share one or have one each.
    assert server.connections <= 2


# Ways in which a document replaces itself; each needs an applet of its own.
DEPARTURES = {
    "href": "location.href = url",
    "assign": "location.assign(url)",
    "replace": "location.replace(url)",
    "meta": "document.head.insertAdjacentHTML('beforeend', `<meta http-equiv=refresh content='0;url=${url}'>`)",
    "formget": "document.body.insertAdjacentHTML('beforeend', `<form action='${url}'>`); document.forms[0].submit()",
    "formpost": "document.body.insertAdjacentHTML('beforeend', `<form method=post action='${url}'><input name=a>`);"
    " document.forms[0].requestSubmit()",
    "formparent": "document.body.insertAdjacentHTML('beforeend', `<form target=_parent action='${url}'>`);"
    " document.forms[0].submit()",
    "link": "Object.assign(document.createElement('a'), { href: url }).click()",
    "linktop": "Object.assign(document.createElement('a'), { href: url, target: '_top' }).click()",
    "download": "Object.assign(document.createElement('a'), { href: url, download: 'x' }).click()",
    "self": "open(url, '_self')",
    "scripturl": "location = 'javascript:' + encodeURIComponent(`location = '${url}'`)",
    "blob": "const html = `<script>location = '${url}'<\\/script>`;"
    " location = URL.createObjectURL(new Blob([html], { type: 'text/html' }))",
    "data": "location = 'data:text/html,' + encodeURIComponent(`<script>location = '${url}'<\\/script>`)",
    "written": "document.open(); document.write(`<meta http-equiv=refresh content='0;url=${url}'>`); document.close()",
}


def test_no_document_can_replace_itself_by_another(notebook: Notebook, server: Loopback) -> None:
    for name, code in DEPARTURES.items():
        leave = f"const url = '{server.origin}/{name}'; setTimeout(() => {{ {code} }});"
        js = f"applet.app.register({{ commands: {{ leave: {{ handler() {{ {leave} }} }} }} }});"
        notebook.run(applet_cell(f"leaver_{name}", html="<p>stay", js=js) + f"\nleaver_{name}.command('leave')")
    # The same in a frame that is only sandboxed: when it has arrived, the others would have.
    control = f"<script>location = '{server.origin}/control'</script>"
    frame = f'<iframe sandbox="allow-scripts" srcdoc="{control}"></iframe>'
    notebook.run(f"from IPython.display import HTML\nHTML({frame!r})")
    server.wait_for("/control")
    visit(notebook, server)
    assert server.hits == ["/control", *PAGE]


# ── what is allowed ──────────────────────────────────────────────────────────────────────────────────────────────────

LISTED = ["fetch", "ws", "events", "img", "font", "style", "script", "module"]


def test_listed_origin_is_reached_and_no_other(notebook: Notebook, server: Loopback, other: Loopback) -> None:
    permissions = {"network": [server.origin]}
    cell = notebook.run(applet_cell("net", html="<p id=styled>net", js=TRY_JS, permissions=permissions))
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    frame = notebook.applet_frame(cell)
    for origin in (server.origin, other.origin):
        frame.evaluate("([exits, origin]) => tryAll(exits, origin)", [{k: EXITS[k] for k in LISTED}, origin])
    visit(notebook, other)
    assert sorted(set(server.hits)) == sorted(f"/{name}" for name in LISTED)
    assert other.hits == PAGE
    # Arrived, and of use.
    assert (
        frame.evaluate("url => fetch(url).then((response) => response.text())", f"{server.origin}/fetch") == "arrived"
    )
    assert frame.evaluate("window.scriptRan") is True
    expect(notebook.applet(cell).locator("#styled")).to_have_css("color", "rgb(1, 2, 3)")
    heard = "url => new Promise((resolve) => { new WebSocket(url).onmessage = ({ data }) => resolve(data); })"
    assert frame.evaluate(heard, server.origin.replace("http", "ws") + "/ws") == "arrived"
    heard = "url => new Promise((resolve) => { new EventSource(url).onmessage = ({ data }) => resolve(data); })"
    assert frame.evaluate(heard, f"{server.origin}/events") == "event"


def test_listed_origin_cannot_be_navigated_to(notebook: Notebook, server: Loopback) -> None:
    permissions = {"network": [server.origin]}
    js = f"setTimeout(() => {{ location.href = '{server.origin}/gone'; }});"
    cell = notebook.run(applet_cell("stays", html="<p>stays", js=js, permissions=permissions))
    expect(notebook.cell(cell).locator(".jupyter-applet-error")).to_contain_text("tried to leave its page")
    visit(notebook, server)
    assert server.hits == PAGE


def test_entries_that_are_no_origin_open_nothing(notebook: Notebook, server: Loopback) -> None:
    address = server.origin
    entries = [
        "*", "http:", "http://*", "'self'", "'unsafe-hashes'", "data:", "", " ", "null",
        f"{address}; connect-src *", f"{address} *", f"{address}\n*", f"{address}, *", f"{address}/x", f"{address}?x",
        f"http://user@127.0.0.1:{server.server_port}", f"http://127.0.0.1:{server.server_port}:80",
        "http://127.0.0.1:*", "http://a\"><script>parent.postMessage('out', '*')</script>",
        "http://127.0.0.1;frame-src *", {"origin": address}, [address], 7, None, True,
    ]  # fmt: skip
    permissions = {"network": entries}
    cell = notebook.run(applet_cell("sly", html="<p>sly", js=TRY_JS, permissions=permissions))
    expect(notebook.applet(cell).locator("p")).to_be_visible()
    frame = notebook.applet_frame(cell)
    frame.evaluate("([exits, origin]) => tryAll(exits, origin)", [EXITS, server.origin])
    visit(notebook, server)
    assert server.hits == PAGE
    # The author is told, in words.
    expect(notebook.cell(cell).locator(".jupyter-applet-bar").first).to_contain_text("is not an origin")


def test_permissions_that_are_no_list_open_nothing_or_one_origin(notebook: Notebook, server: Loopback) -> None:
    for number, network in enumerate([{"a": server.origin}, True, "*", f"{server.origin} *"]):
        cell = notebook.run(applet_cell(f"odd{number}", html="<p>odd", js=TRY_JS, permissions={"network": network}))
        expect(notebook.applet(cell).locator("p")).to_be_visible()
        notebook.applet_frame(cell).evaluate("url => fetch(url).catch(() => null)", f"{server.origin}/{number}")
    visit(notebook, server)
    assert server.hits == PAGE


def test_blocked_origin_is_shown_and_allow_reloads_with_it(notebook: Notebook, server: Loopback) -> None:
    fetched = f"fetch('{server.origin}/wanted').then(() => document.body.append(' arrived'), () => {{}});"
    cell = notebook.run(applet_cell("asks", html=COUNTER_HTML, js=COUNTER_JS + fetched))
    bar = notebook.cell(cell).locator(".jupyter-applet-bar")
    expect(bar).to_contain_text(server.origin)
    assert server.hits == []
    notebook.run("asks.command('add', by=5)")

    decide(bar.get_by_role("button", name="Always for this applet"))
    expect(notebook.applet(cell).locator("body")).to_contain_text("arrived")
    assert server.hits == ["/wanted"]
    # With its state; and Python knows what the person allowed.
    expect(notebook.applet(cell).locator("#total")).to_have_text("5")
    assert notebook.value("[asks.decisions, asks.query('count')]") == [{"network": [server.origin]}, 5]


def test_blocked_origin_stays_closed_when_a_person_says_no(notebook: Notebook, server: Loopback) -> None:
    js = f"window.again = () => fetch('{server.origin}/again').catch(() => 'blocked'); again();"
    cell = notebook.run(applet_cell("asks", html="<p>asks", js=js))
    bar = notebook.cell(cell).locator(".jupyter-applet-bar")
    decide(bar.get_by_role("button", name="Deny"))
    expect(bar).to_have_count(0)
    assert notebook.applet_frame(cell).evaluate("again()") == "blocked"
    visit(notebook, server)
    assert server.hits == PAGE
    expect(bar).to_have_count(0)
