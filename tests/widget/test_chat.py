"""Chat: the widget's own side, with the host inside the process."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_applets import Chat, agent


def test_a_chat_says_and_reads_what_was_said() -> None:
    @agent
    def answer(prompt: str) -> str:
        return prompt.upper()

    chat = Chat()
    assert chat.messages == []
    sent = chat.say("hello")
    assert sent["sessionId"] == chat.session
    assert chat.messages[0]["content"] == "hello"


def test_a_chat_shows_another_session() -> None:
    assert Chat(session="other.ipynb").session == "other.ipynb"


@pytest.mark.parametrize("wrong", [{"heigth": 300}, {"sesion": "x"}])
def test_wrong_arguments_are_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Chat(**wrong)


def test_height_is_a_number_or_a_length() -> None:
    assert Chat(300).height == 300
    assert Chat("50vh").height == "50vh"
