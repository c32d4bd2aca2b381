"""What a chat must bear: hostile strings in every field, ten thousand messages, both themes, and a notebook's keys."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Request, expect

from jupyter_applets.protocol.markers import mark
from jupyter_applets.store.sessions import SessionStore
from jupyter_applets.workspace.files import Workspace
from tests.security.corpus import CORPUS

from .chats import AGENT, chat_in
from .conftest import OpenNotebook
from .notebook import Notebook

# Walks the whole chat, so that every message is really on the page once, opens what is folded, and looks at all of it.
WALK = """async () => {
  const root = document.querySelector('.jupyter-applet-chat');
  const scroller = root.querySelector('[role=log]');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const bad = new Set();
  const seen = new Set();
  const FORBIDDEN = 'script,iframe,object,embed,form,base,meta,link,style,frame,video,audio,source,template,noscript';
  const look = () => {
    for (const message of root.querySelectorAll('.message')) seen.add(message.textContent.match(/#(\\d+)#/)?.[1]);
    for (const element of root.querySelectorAll('*')) {
      if (element.matches(FORBIDDEN)) bad.add(`<${element.localName}>`);
      const isOurIcon = element.closest('svg[aria-hidden]') !== null;
      if (element.namespaceURI !== document.body.namespaceURI && !isOurIcon) bad.add(`namespace ${element.localName}`);
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) bad.add(`${element.localName} ${name}`);
        if (/^(href|src|xlink:href|action|formaction|srcset|poster|background)$/i.test(name)) {
          const isImage = element.matches('img') && /^data:image\\/(png|jpeg|gif|webp|svg\\+xml)[;,]/.test(value);
          const isLink = element.matches('a') && /^(https?:|mailto:)/i.test(value);
          const isDownload = element.matches('a[download]') && /^(data|blob):/.test(value);
          if (!isImage && !isLink && !isDownload) bad.add(`${element.localName} ${name}=${value.slice(0, 60)}`);
        }
        if (name === 'style' && /url\\(|fixed|expression/i.test(value)) bad.add(`style ${value.slice(0, 60)}`);
      }
    }
  };
  for (let still = 0; still < 30; ) {
    for (const details of root.querySelectorAll('details:not([open])')) details.open = true;
    await frame();
    await frame();
    look();
    const before = scroller.scrollTop;
    scroller.scrollTop -= scroller.clientHeight * 0.8;
    await frame();
    still = scroller.scrollTop === before && before <= 1 ? still + 1 : 0;
  }
  return { bad: [...bad], seen: seen.size, ran: window.__xss ?? 0 };
}"""


def write_history(notebook: Notebook) -> None:
    """Every string in every field of a session's files, a turn each."""
    workspace = Workspace(notebook.lab.root)
    store = SessionStore(workspace)
    lines: list[dict[str, Any]] = []
    for n, text in enumerate(CORPUS):
        source: Any = ("user", "applet", "agent")[n % 3]
        told = {"timestamp": text, "streamId": f"turn-{n}"}
        tool = {"toolCallId": f"{n}{text}", "toolName": text}
        lines += [
            {"type": "user.message", "data": {"content": mark(source, text, f"#{n}# {text}"), "image": text}, **told},
            {"type": "tool.execution_start", "data": {**tool, "arguments": {text: text}}, **told},
            {"type": "tool.execution_complete", "data": {**tool, "success": True, "result": [text]}, **told},
            {"type": "assistant.message", "data": {"content": text, "error": text, "code": text}, **told},
        ]
    store.append(notebook.path, lines)
    for n, text in enumerate(CORPUS):
        store.put_output(notebook.path, f"turn-{n}", "text/html", text.encode(), text)
    workspace.close()


def foreign(notebook: Notebook) -> list[str]:
    """The requests of the page that go elsewhere, from now on."""
    found: list[str] = []
    ours = (notebook.lab.url, notebook.lab.url.replace("http", "ws"), "data:", "blob:")

    def note(request: Request) -> None:
        if not request.url.startswith(ours):
            found.append(request.url)

    notebook.page.on("request", note)
    return found


def check(notebook: Notebook, elsewhere: list[str], count: int) -> None:
    walked = notebook.page.evaluate(WALK)
    assert walked["ran"] == 0
    assert walked["bad"] == []
    assert walked["seen"] >= count
    assert elsewhere == []


def test_no_history_file_runs_script_or_loads_anything(open_notebook: OpenNotebook) -> None:
    assert len(set(CORPUS)) >= 200
    notebook = open_notebook(["from jupyter_applets import Chat\nChat(height=1500)"])
    write_history(notebook)
    elsewhere = foreign(notebook)
    notebook.run_all()
    expect(chat_in(notebook, 0).users.first).to_be_attached()
    check(notebook, elsewhere, len(CORPUS))


LIVE = """
import json
from jupyter_applets import Chat, agent, tools
CORPUS = json.loads({corpus!r})
class Shown:
    def __init__(self, text): self.text = text
    def _repr_html_(self): return self.text
@agent(name=CORPUS[0])
async def hostile(prompt, ctx):
    text = CORPUS[int(prompt.split("#")[1])]
    agent(name=text)(hostile)
    for at in range(0, len(text), 7):
        yield text[at:at+7]
    ctx.display(Shown(text), title=text)
    try:
        await ctx.tools.call("app_query", {{"windowId": text, "stateKey": text}})
    except Exception:
        pass
    raise ValueError(text)
Chat(height=1500)
"""
SAY = """
for n, text in enumerate(CORPUS):
    try:
        await tools.call("send_message", {"prompt": f"#{n}# {text}", "wait": True})
    except Exception:
        pass
"""


def test_nothing_that_is_said_live_runs_script_or_loads_anything(open_notebook: OpenNotebook) -> None:
    some = CORPUS[:64] + CORPUS[64::9]
    notebook = open_notebook([LIVE.format(corpus=json.dumps(some)), SAY])
    elsewhere = foreign(notebook)
    notebook.run_all()
    check(notebook, elsewhere, len(some))


# ── ten thousand messages ────────────────────────────────────────────────────────────────────────────────────────────

# When the chat is there, when its last message is in sight, and how long the page was ever held up.
TIMES = """() => {
  window.chatTimes = { tasks: [] };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.chatTimes.tasks.push(duration);
  }).observe({ entryTypes: ['longtask'] });
  const look = () => {
    const root = document.querySelector('.jupyter-applet-chat');
    if (!root) return;
    window.chatTimes.began ??= performance.now();
    const last = [...root.querySelectorAll('.message.assistant')].at(-1);
    if (!last?.textContent.includes('answer 4999')) return;
    window.chatTimes.shown ??= performance.now();
    observer.disconnect();
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
SCROLL = """async () => {
  const root = document.querySelector('.jupyter-applet-chat');
  const log = root.querySelector('[role=log]');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const waits = [];
  let most = 0;
  for (let n = 0; n < 150; n++) {
    log.scrollTop -= 400;
    const began = performance.now();
    // Something is in the middle of what is in sight.
    const { top, height } = log.getBoundingClientRect();
    const isThere = () => [...root.querySelectorAll('.message')].some((message) => {
      const box = message.getBoundingClientRect();
      return box.top < top + height * 0.75 && box.bottom > top + height * 0.25;
    });
    do await frame(); while (!isThere() && performance.now() - began < 2000);
    waits.push(performance.now() - began);
    most = Math.max(most, root.querySelectorAll('.message').length);
  }
  return { waits: waits.sort((a, b) => a - b), most };
}"""


def test_ten_thousand_messages_open_within_a_second_and_scroll(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(["from jupyter_applets import Chat", "Chat(height=700)"])
    workspace = Workspace(notebook.lab.root)
    code = "\n\n```python\nfor x in range(10):\n    print(x)\n```\n\nand **more** of it."
    lines = []
    for n in range(5_000):
        told = {"timestamp": "2026-01-27T20:00:00.000Z", "streamId": f"turn-{n}"}
        lines.append({"type": "user.message", "data": {"content": f"question {n}"}, **told})
        text = f"answer {n}. " + "Some words that fill a line or two of the chat. " * (n % 7)
        lines.append({"type": "assistant.message", "data": {"content": text + (code if n % 5 == 0 else "")}, **told})
    SessionStore(workspace).append(notebook.path, lines)
    workspace.close()
    notebook.run_cell(0)
    notebook.page.evaluate(TIMES)
    notebook.run_cell(1)
    expect(chat_in(notebook, 1).answers.last).to_contain_text("answer 4999")
    times = notebook.page.evaluate("chatTimes")
    assert times["shown"] - times["began"] < 1_000, times
    scrolled = notebook.page.evaluate(SCROLL)
    assert scrolled["most"] < 200
    waits = scrolled["waits"]
    assert waits[int(0.95 * len(waits))] < 100, waits[-10:]
    assert max(notebook.page.evaluate("chatTimes.tasks"), default=0) < 1_000


# ── colours and keys ─────────────────────────────────────────────────────────────────────────────────────────────────

CONTRAST = """(selector) => {
  const bubble = document.querySelector(`.jupyter-applet-chat ${selector}`);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ratio = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((p, q) => p - q);
    return (high + 0.05) / (low + 0.05);
  };
  const style = getComputedStyle(bubble);
  const label = getComputedStyle(bubble, '::before');
  const grounds = style.backgroundImage === 'none'
    ? [numbers(style.backgroundColor)]
    : style.backgroundImage.match(/rgb\\([^)]*\\)/g).map(numbers);
  const found = [];
  for (const ground of grounds) {
    found.push(ratio(numbers(style.color), ground));
    if (label.content !== 'none') {
      const opacity = Number(label.opacity);
      const ink = numbers(label.color).slice(0, 3).map((c, i) => c * opacity + ground[i] * (1 - opacity));
      found.push(ratio(ink, ground));
    }
  }
  return Math.min(...found);
}"""


def test_bubbles_can_be_read_in_light_and_dark_and_keys_stay_in_the_chat(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook([AGENT, "Chat()", "1"])
    notebook.run_all()
    chat = chat_in(notebook, 1)
    chat.say("hello")
    chat.wait_for_answer("hello")
    url = f"{notebook.lab.url}applets/api/sessions/{notebook.path}/messages?token={notebook.lab.token}"
    body = {"prompt": "from elsewhere", "source": "applet", "appletSlug": "calculator"}
    assert notebook.page.request.post(url, data=body).ok
    chat.wait_for_answer("from elsewhere")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.set_theme(theme)  # type: ignore[arg-type]
        for selector in (".message.user:not(.applet-invoked)", ".message.user.applet-invoked"):
            assert notebook.page.evaluate(CONTRAST, selector) >= 4.5, (theme, selector)

    # Keys that mean something to a notebook mean themselves here; the last prompt comes back by the arrow.
    chat.input.fill("")
    chat.input.press_sequentially("dd aa bb xx zz")
    chat.input.press("Shift+Enter")
    chat.input.press_sequentially("second line")
    expect(chat.input).to_have_value("dd aa bb xx zz\nsecond line")
    chat.input.fill("")
    chat.input.press("ArrowUp")
    expect(chat.input).to_have_value("hello")
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 3
    expect(chat.root.get_by_role("log")).to_have_count(1)
