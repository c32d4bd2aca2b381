"""A chat in a notebook, used as a person does, and the agents that the tests speak with."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, expect

from .notebook import Notebook

AGENT = """
import asyncio
from jupyter_applets import agent, Chat, load_applet, Desk, Applet

@agent
async def analyst(prompt, ctx):
    if prompt == "raise":
        raise ValueError("I do not want to.")
    if prompt == "forever":
        n = 0
        while True:
            n += 1
            yield f"{n} "
            await asyncio.sleep(0.02)
    yield f"**You** said `{prompt}`"
    if ctx.applet:
        yield f" from {ctx.applet}"
    yield "."
"""


class ChatPanel:
    """One chat on a page."""

    def __init__(self, place: Locator) -> None:
        self.root = place.locator(".jupyter-applet-chat")
        self.input = self.root.get_by_role("textbox")
        self.users = self.root.locator(".message.user")
        self.answers = self.root.locator(".message.assistant")

    def say(self, text: str) -> None:
        self.input.fill(text)
        self.input.press("Enter")

    def bubbles(self) -> list[dict[str, Any]]:
        """Each bubble as it is: its classes, where it comes from, and its text."""
        script = """all => all.map((b) => ({
          kind: [...b.classList].filter((name) => /^(message|user|assistant|.*-invoked)$/.test(name)).join(' '),
          source: b.getAttribute('data-applet-source'),
          text: b.innerText.trim(),
          background: getComputedStyle(b).backgroundImage + getComputedStyle(b).backgroundColor,
        }))"""
        found: list[dict[str, Any]] = self.root.locator(".message").evaluate_all(script)
        return found

    def wait_for_answer(self, text: str, nth: int = -1) -> None:
        answer = self.answers.nth(nth) if nth >= 0 else self.answers.last
        expect(answer).to_contain_text(text)


def chat_in(notebook: Notebook, cell: int) -> ChatPanel:
    return ChatPanel(notebook.cell(cell))
