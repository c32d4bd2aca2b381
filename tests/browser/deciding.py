"""How a test answers a question that an applet's page puts to a person."""

from __future__ import annotations

from playwright.sync_api import Locator, expect


def decide(button: Locator, key: str | None = None) -> None:
    """Until it is taken: a question that moves takes no click and no key, and a notebook moves while its cells run."""
    for _ in range(5):
        expect(button).to_be_enabled()
        if key is None:
            button.click()
        else:
            expect(button).to_be_focused()
            button.page.keyboard.press(key)
        try:
            return expect(button).to_have_count(0, timeout=1000)
        except AssertionError:
            continue
    raise AssertionError(f"{button} takes no answer.")
