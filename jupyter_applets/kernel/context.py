"""Context: what an agent is handed with a prompt: who asks, what was said before, the applets, and the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import Cancelled, InvalidArguments
from ..protocol.base import Json
from ..protocol.sessions import HistoryItem, InteractionItem, Turn
from ..protocol.tools import schemas
from .displaying import as_output

if TYPE_CHECKING:
    from .answering import Answering
    from .connection import Connection


class Context:
    """One turn as its agent sees it.

    session: the session's id. prompt: what was said. source: "user", "applet" or "agent". applet: the slug of the
    applet that asks. window_id: its window. history: what was said before, each with role, content and source.
    interactions: what applets told since the turn before. image: a data URL. depth: how many calls of agents and
    applets by each other led here. tools: every tool by name.
    """

    def __init__(self, connection: Connection, answering: Answering) -> None:
        turn: Turn = answering.turn
        self._connection = connection
        self._answering = answering
        self.prompt = turn.prompt
        self.session = turn.session_id
        self.source = turn.source
        self.applet = turn.applet_slug
        self.window_id = turn.window_id
        self.history: list[HistoryItem] = list(turn.history)
        self.interactions: list[InteractionItem] = list(turn.interactions)
        self.image = turn.image_data
        self.correlation_id = turn.correlation_id
        self.depth = turn.depth
        self.tools = Tools(connection)
        self._window_session = turn.window_session

    def __repr__(self) -> str:
        return f"<Context of {self.source} in {self.session!r}: {self.prompt[:60]!r}>"

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more. An async agent is stopped by itself."""
        return self._answering.cancelled

    def check(self) -> None:
        """Raise when the turn was cancelled: for loops of plain functions."""
        if self.cancelled:
            raise Cancelled("The turn was cancelled.")

    def app(self, window_id: str | None = None) -> AppHandle:
        """An applet by its window; without one, the applet that asks."""
        if window_id is not None and window_id != self.window_id:
            return AppHandle(self._connection, window_id, None)
        if self.window_id is None:
            raise InvalidArguments("No applet asks in this turn: name the window, as list_windows does.")
        return AppHandle(self._connection, self.window_id, self._window_session)

    def state(self, **keys: Json) -> dict[str, Json]:
        """Push keys to the applet that asks; gives its whole state."""
        app = self.app()
        if keys:
            app.push(**keys)
        return app.state

    def display(self, value: Any, title: str = "") -> None:
        """Show an image, a figure, a table or a text in the chat, below what was said so far."""
        self._answering.show(*as_output(value), title=title)

    def as_messages(self) -> list[dict[str, Any]]:
        """What was said before and the prompt, as the APIs of LLMs take them."""
        said = [{"role": item.role, "content": _told(item)} for item in self.history]
        prompt: Any = self.prompt
        if self.interactions:
            told = "\n".join(f"- {item.window_id}: {item.content}" for item in self.interactions)
            prompt = f"{prompt}\n\n(Since the last message, in applets:\n{told})"
        if self.source != "user":
            prompt = f"[{self.source}:{self.applet}] {prompt}"
        if self.image is not None:
            prompt = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": self.image}}]
        return [*said, {"role": "user", "content": prompt}]


def _told(item: HistoryItem) -> str:
    return (
        item.content if item.source in ("user", "assistant") else f"[{item.source}:{item.applet_slug}] {item.content}"
    )


class Tools:
    """`await ctx.tools.call(name, arguments)`, and the schemas that tell an LLM of them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def call(self, name: str, arguments: Json = None, *, timeout: float | None = None) -> Json:
        from .toolbox import acall

        return await acall(name, arguments or {}, timeout)

    def schemas(self, style: Any = "openai") -> list[dict[str, Any]]:
        return schemas(style)


class AppHandle:
    """A running applet: `query` and `command` block, `aquery` and `acommand` await."""

    def __init__(self, connection: Connection, window_id: str, session: str | None) -> None:
        self._connection = connection
        self.window_id = window_id
        self._name = {"windowId": window_id, **({"session": session} if session is not None else {})}

    def query(self, key: str, *, timeout: float | None = None) -> Json:
        return self._call("app_query", {"stateKey": key}, timeout, f"ctx.app(…).aquery({key!r})")

    def command(self, name: str, params: Json = None, /, *, timeout: float | None = None, **kwargs: Json) -> Json:
        arguments = {"command": name, "params": _params(params, kwargs)}
        return self._call("app_command", arguments, timeout, f"ctx.app(…).acommand({name!r}, …)")

    async def aquery(self, key: str, *, timeout: float | None = None) -> Json:
        return await self._acall("app_query", {"stateKey": key}, timeout)

    async def acommand(
        self, name: str, params: Json = None, /, *, timeout: float | None = None, **kwargs: Json
    ) -> Json:
        return await self._acall("app_command", {"command": name, "params": _params(params, kwargs)}, timeout)

    def push(self, **keys: Json) -> None:
        self._call("set_applet_state", {"data": keys}, None)

    @property
    def state(self) -> dict[str, Json]:
        found: dict[str, Json] = self._call("get_applet_state", {}, None)["state"]
        return found

    def _call(self, name: str, arguments: dict[str, Json], timeout: float | None, instead: str | None = None) -> Json:
        __tracebackhide__ = True
        return self._connection.call(self.window_id, name, {**self._name, **arguments}, timeout, instead)

    async def _acall(self, name: str, arguments: dict[str, Json], timeout: float | None) -> Json:
        return await self._connection.acall(self.window_id, name, {**self._name, **arguments}, timeout)


def _params(params: Json, kwargs: dict[str, Json]) -> Json:
    if params is not None and kwargs:
        raise TypeError("Give the params as one object, or as keyword arguments, not both.")
    return params if params is not None else kwargs
