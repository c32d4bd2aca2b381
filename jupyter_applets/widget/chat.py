"""Chat: a widget that shows what is said in a session, and lets a person speak with its agent."""

from __future__ import annotations

from typing import Any

from ..protocol.base import Json
from . import bundles
from .viewer import Viewer


class Chat(Viewer):
    """The conversation of this notebook with its agent (see `agent`): what people, applets and the agent said.

    Parameters
    ----------
    height
        Pixels, or a CSS length.
    session
        Another session, as `list_sessions()` names it.
    """

    _esm = bundles.STATIC / "chat-loader.js"

    def __init__(self, height: int | str = 480, session: str | None = None) -> None:
        super().__init__(height, session)

    @property
    def session(self) -> str:
        session: str = self._session
        return session

    def say(self, prompt: str) -> dict[str, Json]:
        """Say something, as a person does in the chat. Gives `sessionId` and `streamId`; the answer comes there."""
        sent: dict[str, Json] = self._call("send_message", {"prompt": prompt})
        return sent

    @property
    def messages(self) -> list[dict[str, Json]]:
        """What was said: the last 1,000 messages."""
        found: list[dict[str, Json]] = self._call("get_messages", {"limit": 1000})
        return found

    def _call(self, name: str, arguments: dict[str, Json]) -> Any:
        return self._connection.call("", name, {"session": self._session, **arguments})
