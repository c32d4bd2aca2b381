"""The chat in a real notebook: the seed's three scenarios, orange bubbles live and after a reload, cuts and kills."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, expect

from .chats import AGENT, ChatPanel, chat_in
from .conftest import OpenNotebook, StartLab
from .deciding import decide
from .notebook import Notebook

CHAT, CALCULATOR = "Chat()", "Applet.load('calculator', window_id='calculator')"


@pytest.fixture
def opened(open_notebook: OpenNotebook) -> Notebook:
    """An agent, its chat, and the calculator."""
    notebook = open_notebook([AGENT, CHAT, CALCULATOR])
    notebook.run_all()
    return notebook


def calculator(notebook: Notebook, cell: int = 2) -> Frame:
    expect(notebook.applet(cell).locator(".display")).to_be_visible()
    return notebook.applet_frame(cell)


def folder_of(notebook: Notebook) -> Path:
    return notebook.lab.root / ".jupyter-applets" / "sessions" / notebook.path


def journal(notebook: Notebook) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder_of(notebook) / "events.jsonl").read_text().splitlines()]


# ── the three scenarios ──────────────────────────────────────────────────────────────────────────────────────────────


def test_active_chat_shows_an_orange_bubble_live_and_after_a_reload(opened: Notebook) -> None:
    chat = chat_in(opened, 1)
    chat.say("[applet:me] typed by a person")
    chat.wait_for_answer("typed by a person")
    result = calculator(opened).evaluate("invokeAgent('What is 2+2?')")
    assert result == {"text": "**You** said `What is 2+2?` from calculator.", "state": {}, "toolCalls": []}
    chat.wait_for_answer("from calculator")
    live = chat.bubbles()
    assert [(b["kind"], b["source"]) for b in live] == [
        ("message user", None),
        ("message assistant", None),
        ("message user applet-invoked", "calculator"),
        ("message assistant", None),
    ]
    assert "230, 92, 0" in live[2]["background"]
    assert "230, 92, 0" not in live[0]["background"]
    opened.reload()
    chat = chat_in(opened, 1)
    chat.wait_for_answer("from calculator")
    assert chat.bubbles() == live
    contents = [line["data"]["content"] for line in journal(opened) if line["type"] == "user.message"]
    assert contents == ["\\[applet:me] typed by a person", "[applet:calculator] What is 2+2?"]


def test_background_shows_no_bubble_ever(opened: Notebook) -> None:
    chat = chat_in(opened, 1)
    frame = calculator(opened)
    result = frame.evaluate("invokeAgent('hidden one', {session: 'background'})")
    assert "hidden one" in result["text"]
    assert "hidden two" in frame.evaluate("invokeAgent('hidden two', {showInChat: false})")["text"]
    chat.say("seen")
    chat.wait_for_answer("seen")
    assert [b["kind"] for b in chat.bubbles()] == ["message user", "message assistant"]
    opened.reload()
    chat = chat_in(opened, 1)
    chat.wait_for_answer("seen")
    assert [b["kind"] for b in chat.bubbles()] == ["message user", "message assistant"]


def test_a_known_other_session_answers_out_of_sight(opened: Notebook, open_notebook: OpenNotebook) -> None:
    other = open_notebook([AGENT.replace("**You** said", "Other heard"), CHAT])
    other.run_all()
    result = calculator(opened).evaluate("(session) => invokeAgent('over there', {session})", other.path)
    assert result["text"].startswith("Other heard")
    theirs = chat_in(other, 1)
    theirs.wait_for_answer("over there")
    assert theirs.bubbles()[0]["kind"] == "message user applet-invoked"
    assert chat_in(opened, 1).bubbles() == []


def test_a_new_session_is_fresh_and_out_of_sight(opened: Notebook) -> None:
    chat = chat_in(opened, 1)
    frame = calculator(opened)
    ids = frame.evaluate("invokeAgent('fresh', {session: 'new', waitForResult: false})")
    assert set(ids) == {"sessionId", "streamId"}
    assert ids["sessionId"] != opened.path
    assert "fresh two" in frame.evaluate("invokeAgent('fresh two', {session: 'new'})")["text"]
    chat.say("seen")
    chat.wait_for_answer("seen")
    assert [b["kind"] for b in chat.bubbles()] == ["message user", "message assistant"]


def test_the_calculators_own_button_asks(opened: Notebook) -> None:
    applet = opened.applet(2)
    for key in ("1", "2", "*", "3"):
        applet.locator(f"[data-key='{key}']").click()
    applet.get_by_role("button", name="Ask").first.click()
    chat = chat_in(opened, 1)
    chat.wait_for_answer("from calculator")
    assert chat.bubbles()[0]["source"] == "calculator"


# ── what an applet gets ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_seeds_direct_use_works_inside_an_applet(opened: Notebook) -> None:
    text = calculator(opened).evaluate(
        """async () => {
          const {sessionId} = await (await fetch('/api/sessions', {method: 'POST'})).json();
          const body = JSON.stringify({prompt: 'direct'});
          const sent = await fetch(`/api/sessions/${sessionId}/messages`, {method: 'POST', body});
          const {streamId} = await sent.json();
          const text = await new Promise((resolve, reject) => {
            const source = new EventSource(`/api/stream/${streamId}`);
            let text = '';
            source.addEventListener('assistant.message_delta', (e) => (text += JSON.parse(e.data).delta));
            source.addEventListener('done', () => { source.close(); resolve(text); });
            source.onerror = () => reject(new Error('no stream'));
          });
          const history = await (await fetch(`/api/history?session=${sessionId}`)).json();
          return [text, history.map((m) => [m.source, m.appletSlug, m.content])];
        }"""
    )
    answer = "**You** said `direct` from calculator."
    assert text == [answer, [["applet", "calculator", "direct"], ["assistant", None, answer]]]


def test_pieces_status_and_stop_reach_the_applet(opened: Notebook) -> None:
    result = calculator(opened).evaluate(
        """async () => {
          const stop = new AbortController();
          let pieces = 0;
          const onDelta = () => { if (++pieces === 3) stop.abort(); };
          try {
            await invokeAgent('forever', {onDelta, signal: stop.signal});
          } catch (error) {
            return [pieces >= 3, error.code];
          }
        }"""
    )
    assert result == [True, "CANCELLED"]
    expect(chat_in(opened, 1).answers.last).to_contain_text("1 2 3")


def test_an_applet_without_the_permission_asks_the_person(open_notebook: OpenNotebook) -> None:
    script = "invokeAgent('hi').then((r) => out.textContent = r.text, (e) => out.textContent = e.code)"
    applet = f"Applet(html='<p id=out>…</p>', js={script!r})"
    notebook = open_notebook([AGENT, CHAT, applet])
    notebook.run_all()
    bar = notebook.cell(2).get_by_text("wants to speak with the agent")
    expect(bar).to_be_visible()
    assert chat_in(notebook, 1).bubbles() == []
    notebook.cell(2).scroll_into_view_if_needed()
    decide(notebook.cell(2).get_by_role("button", name="Allow once"))
    expect(notebook.applet(2).locator("#out")).to_contain_text("You")


def test_a_busy_kernel_is_said_to_be_busy_and_its_turn_can_be_stopped(opened: Notebook) -> None:
    chat = chat_in(opened, 1)
    opened.add_cell("import time, pathlib\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)")
    opened.start_cell(3)
    opened.wait_busy()
    chat.say("are you there?")
    expect(chat.root).to_contain_text("Queued behind a running cell")
    chat.root.get_by_role("button", name="Stop").click()
    expect(chat.root.get_by_text("Stopped")).to_be_visible()
    (opened.lab.root / "go").touch()
    opened.wait_done()
    (opened.lab.root / "go").unlink()
    chat.say("and now?")
    chat.wait_for_answer("and now?")


# ── several pages, cuts, kills ───────────────────────────────────────────────────────────────────────────────────────


def test_two_tabs_stay_in_step(opened: Notebook) -> None:
    first = chat_in(opened, 1)
    first.say("one")
    first.wait_for_answer("one")
    other = opened.open_in(opened.page.context.new_page())
    second = chat_in(other, 1)
    second.wait_for_answer("one")
    second.say("two")
    first.wait_for_answer("two")
    second.wait_for_answer("two")
    assert first.bubbles() == second.bubbles()


def test_a_kernel_that_is_killed_in_mid_answer_leaves_an_error_and_a_usable_session(opened: Notebook) -> None:
    chat = chat_in(opened, 1)
    pid = int(opened.value("__import__('os').getpid()"))
    chat.say("forever")
    chat.wait_for_answer("1 2 3")
    os.kill(pid, signal.SIGKILL)
    expect(chat.root.get_by_role("alert")).to_contain_text("went away")
    expect(chat.answers.last).to_contain_text("1 2 3")
    dialog = opened.page.locator(".jp-Dialog")
    if dialog.is_visible():
        opened.accept_dialog()
    opened.wait_done(check=False)
    opened.run_cell(0)
    chat.say("hello again")
    chat.wait_for_answer("hello again")


def test_a_restarted_kernel_goes_on(opened: Notebook) -> None:
    chat = chat_in(opened, 1)
    chat.say("one")
    chat.wait_for_answer("one")
    opened.restart_kernel()
    opened.run_cell(0)
    chat.say("two")
    chat.wait_for_answer("two")
    assert [b["kind"] for b in chat.bubbles()] == ["message user", "message assistant"] * 2


def test_a_server_that_is_restarted_in_mid_answer_keeps_what_was_said(
    start_lab: StartLab, open_notebook: OpenNotebook
) -> None:
    lab = start_lab()
    notebook = open_notebook([AGENT, CHAT], lab=lab)
    notebook.run_all()
    chat = chat_in(notebook, 1)
    chat.say("one")
    chat.wait_for_answer("one")
    chat.say("forever")
    chat.wait_for_answer("1 2 3")
    notebook.save()
    lab.restart()
    expect(chat.root.get_by_role("alert")).to_be_visible(timeout=40_000)
    assert [b["text"].split("\n")[-1] for b in chat.bubbles() if b["kind"] == "message user"] == ["one", "forever"]
    notebook.start_kernel()
    notebook.run_cell(0)
    chat.say("and on")
    chat.wait_for_answer("and on")


def test_a_chat_without_the_extension_speaks_over_the_comm(start_lab: StartLab, open_notebook: OpenNotebook) -> None:
    notebook = open_notebook([AGENT, CHAT], lab=start_lab(extension=False))
    notebook.run_all()
    chat = chat_in(notebook, 1)
    chat.say("hello")
    chat.wait_for_answer("hello")


def test_outputs_come_back_after_a_reload(open_notebook: OpenNotebook) -> None:
    agent = """
from jupyter_applets import agent, Chat
import base64
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmM"
                       "IQAAAABJRU5ErkJggg==")
class Table:
    def _repr_html_(self): return "<table><tr><td>cell one</td></tr></table>"
@agent
def painter(prompt, ctx):
    ctx.display(PNG, title="A pixel")
    yield Table()
    yield "Drawn."
"""
    notebook = open_notebook([agent, CHAT])
    notebook.run_all()

    def look() -> ChatPanel:
        chat = chat_in(notebook, 1)
        chat.wait_for_answer("Drawn.")
        expect(chat.root.locator("img[alt='A pixel']")).to_be_visible()
        expect(chat.root.get_by_role("cell", name="cell one")).to_be_visible()
        return chat

    chat_in(notebook, 1).say("draw")
    look()
    notebook.reload()
    look()
