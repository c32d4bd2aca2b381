"""The chat's figures: from an agent's first `yield` to the screen, beside a bare anywidget's trait; many at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .figures import Contender, Target
from .stage import BenchNotebook, Stage

FIGURES = "lm"
TOKENS = 40
SESSIONS, MESSAGES = 100, 50

FIRST_TOKEN = "first token, yield to screen"
TRAIT = "bare anywidget's trait, set to screen"
FIRST_TOKEN_DOM = "first token, yield to the document"
TRAIT_DOM = "bare anywidget's trait, set to the document"
CHAT = ".jupyter-applet-chat"
MANY = f"{SESSIONS} sessions of {MESSAGES} messages at once"

# A page at rest draws at once; beside a chat's running dots, a change waits for the next frame of the screen.
TARGETS = [Target(FIRST_TOKEN, TRAIT), Target(FIRST_TOKEN_DOM, TRAIT_DOM), Target(MANY)]

# What was sent carries the time at which it was: the kernel and the page share a clock. `textContent` needs no layout.
_WATCH = """([root, last]) => {
  window.benchTimes = [];
  let seen = '';
  const look = () => {
    const stamp = /T(\\d{10}\\.\\d{6})/.exec([...document.querySelectorAll(last)].at(-1)?.textContent ?? '')?.[1];
    if (!stamp || stamp <= seen) return;
    seen = stamp;
    const since = () => (performance.timeOrigin + performance.now()) / 1000 - Number(stamp);
    const shown = since();
    requestAnimationFrame(() => window.benchTimes.push([shown, since()]));
  };
  const all = { subtree: true, childList: true, characterData: true };
  new MutationObserver(look).observe(document.querySelector(root), all);
}"""
_USE = "from tests.bench.streaming import *"


def contenders(stage: Stage, wanted: Collection[str]) -> Iterator[Contender]:
    if "l" in wanted:
        ours = stage.notebook("ours", [f"{_USE}\nChat()", f"await first_tokens({TOKENS})"])
        peer = stage.notebook("ours", [f"{_USE}\ntrait = Trait(); trait", f"await traits(trait, {TOKENS})"])
        for notebook, root, last in (
            (ours, CHAT, f"{CHAT} .message.assistant"),
            (peer, ".bench-trait", ".bench-trait"),
        ):
            notebook.run_cell(0)
            notebook.page.wait_for_selector(root, state="attached")
            notebook.page.evaluate(_WATCH, [root, last])
        document: dict[str, list[float]] = {}
        yield Contender("l", FIRST_TOKEN, lambda: _screened(ours, document))
        yield Contender("l", FIRST_TOKEN_DOM, lambda: document[ours.path])
        yield Contender("l", TRAIT, lambda: _screened(peer, document))
        yield Contender("l", TRAIT_DOM, lambda: document[peer.path])
    if "m" in wanted:
        notebook = stage.notebook("ours", [_USE, f"await many({SESSIONS}, {MESSAGES})"])
        notebook.run_cell(0)
        yield Contender("m", MANY, lambda: notebook.measure(1), per=SESSIONS * MESSAGES)


def _screened(notebook: BenchNotebook, document: dict[str, list[float]]) -> list[float]:
    """The cell runs, and the page has kept when it saw what, in the document and in the next frame."""
    notebook.page.evaluate("window.benchTimes = []")
    notebook.measure(1)
    times: list[list[float]] = notebook.page.evaluate("window.benchTimes")
    document[notebook.path] = [shown for shown, _ in times]
    return [drawn for _, drawn in times]
