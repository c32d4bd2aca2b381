"""Agents: this kernel answers for its session. `agent` is the public face, `AgentDesk` what a connection owns of it."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from ..errors import BlockingCallUnavailable, LinkLost
from ..link.base import Link
from ..protocol.sessions import AgentGone, AgentReady, Turn, TurnCancel

if TYPE_CHECKING:
    import asyncio

    from .answering import Answering
    from .connection import Connection
    from .context import Context

log = logging.getLogger("jupyter_applets")

F = TypeVar("F", bound=Callable[..., Any])


class Registered(NamedTuple):
    """An agent, and where it was registered: the loop it runs on (None: threads), the cell its output goes to."""

    function: Callable[..., Any]
    name: str
    takes_context: bool
    wakes: bool
    loop: asyncio.AbstractEventLoop | None
    context: contextvars.Context


class AgentDesk:
    """The agent of this kernel, and the turns that it is at. Its methods are for any thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._answering: dict[str, Answering] = {}
        self.registered: Registered | None = None

    def register(self, registered: Registered) -> None:
        self.registered = registered
        for link in self._connection.links():
            self.announce(link)

    def stop(self) -> None:
        if self.registered is not None:
            self.registered = None
            for link in self._connection.links():
                link.post(AgentGone())

    def announce(self, link: Link) -> None:
        """Tell the host who answers, and what it is at."""
        registered = self.registered
        with self._lock:
            mine = [answering for answering in self._answering.values() if answering.link is link]
        if registered is None and not mine:
            return
        with ExitStack() as held:
            for answering in mine:  # nothing more is said before the host has heard what was said so far
                held.enter_context(answering.lock)
            running = [answering.running() for answering in mine]
            if registered is not None:
                link.post(AgentReady(registered.name, registered.wakes, running))
            else:  # it was stopped, but is at something yet
                link.post(AgentReady("", running=running))
                link.post(AgentGone())
        for answering in mine:
            if answering.done:
                self._tell_end(answering)  # the host has not heard of it

    def check_blocking(self) -> None:
        """Raise where the agent could not begin before the call that waits for its answer has returned."""
        registered = self.registered
        if registered is not None and registered.loop is not None and registered.loop is _running_loop():
            raise BlockingCallUnavailable(
                "The agent of this kernel cannot begin while this call blocks: use "
                '`await tools.call("send_message", {…})`, or register it with @agent(thread=True).'
            )

    def hear(self, link: Link, notice: Turn | TurnCancel) -> None:
        if isinstance(notice, TurnCancel):
            with self._lock:
                answering = self._answering.pop(notice.stream_id, None)
            if answering is not None:
                answering.cancel()
            return
        from .answering import Answering  # only who answers needs a loop and what it brings

        registered = self.registered
        with self._lock:
            if registered is None or notice.stream_id in self._answering:
                return
            answering = Answering(notice, link, lambda answering: self._call(registered, answering), self._ended)
            self._answering[notice.stream_id] = answering
        answering.start(registered.loop, registered.context.copy())

    def _call(self, registered: Registered, answering: Answering) -> Any:
        from .context import Context

        if not registered.takes_context:
            return registered.function(answering.turn.prompt)
        return registered.function(answering.turn.prompt, Context(self._connection, answering))

    def _ended(self, answering: Answering) -> None:
        if answering.cancelled:
            with self._lock:
                self._answering.pop(answering.stream_id, None)
        else:
            self._tell_end(answering)

    def _tell_end(self, answering: Answering) -> None:
        arguments = {
            "streamId": answering.stream_id,
            "text": answering.text,
            "error": answering.error,
            "code": answering.code,
        }

        def replied(done: Any) -> None:
            error = None if done.cancelled() else done.exception()
            if isinstance(error, LinkLost):
                return  # told again when the link is there again
            if error is not None:
                log.debug("the host did not take the end of a turn: %s", error)
            with self._lock:
                self._answering.pop(answering.stream_id, None)

        answering.link.call("end_turn", arguments).add_done_callback(replied)


class Agent:
    """Makes this kernel the agent of its notebook: `@agent` on a function of a prompt and a context.

    The function may be async or not, return its answer or yield it piece by piece. It runs while the kernel is idle and
    while a cell awaits; with `thread=True` it runs on a thread, in a busy kernel too. With `wake_on_interaction=True`
    it hears what applets tell with `sendInteraction` as it happens. Registering another function takes its place.
    """

    @overload
    def __call__(self, function: F, /) -> F: ...

    @overload
    def __call__(
        self, /, *, thread: bool = False, wake_on_interaction: bool = False, name: str | None = None
    ) -> Callable[[F], F]: ...

    def __call__(
        self,
        function: Any = None,
        /,
        *,
        thread: bool = False,
        wake_on_interaction: bool = False,
        name: str | None = None,
    ) -> Any:
        if function is None:
            return lambda given: self._register(given, thread, wake_on_interaction, name)
        return self._register(function, thread, wake_on_interaction, name)

    def __repr__(self) -> str:
        current = self.current
        return f"<agent: {current}>" if current else "<agent: nobody answers; decorate a function with @agent>"

    @property
    def current(self) -> str | None:
        """The name of the function that answers; None when there is none."""
        registered = _desk().registered
        return registered.name if registered is not None else None

    def stop(self) -> None:
        """Answer no more. What is under way is brought to its end."""
        _desk().stop()

    def echo(self) -> Callable[..., Any]:
        """An agent that says what it is told, for trying things out."""

        async def echo(prompt: str, ctx: Context) -> Any:
            import asyncio

            for at, word in enumerate(prompt.split(" ")):
                if at:
                    await asyncio.sleep(0.02)
                yield word if at == 0 else f" {word}"

        return self(echo)

    def from_openai(self, client: Any, model: str, **options: Any) -> Callable[..., Any]:
        """An LLM behind an OpenAI-compatible API answers, with the tools of this package.

        client: an `openai.OpenAI` or `openai.AsyncOpenAI`, or what has their `chat.completions.create`.
        system: a system prompt. tools: True for all, a list of names, or False. max_rounds: how often it may call tools
        in one turn. Whatever else is given goes to the API (temperature, …).
        """
        from .openai import make_agent

        own = {name: options.pop(name) for name in ("thread", "wake_on_interaction", "name") if name in options}
        return self(**own)(make_agent(client, model, **options))

    def _register(self, function: Any, thread: bool, wakes: bool, name: str | None) -> Any:
        if not callable(function):
            raise TypeError(f"@agent decorates a function of a prompt and a context, not {function!r}.")
        takes_context = _takes_context(function)
        called = name or getattr(function, "__name__", None) or type(function).__name__
        loop = None if thread else _running_loop()
        context = contextvars.copy_context()
        _desk().register(Registered(function, called, takes_context, wakes, loop, context))
        return function


def _takes_context(function: Callable[..., Any]) -> bool:
    """Whether it wants the context beside the prompt."""
    import inspect

    try:
        signature = inspect.signature(function)
    except ValueError:
        return True  # one of C's, which does not tell
    if not _binds(signature, "prompt"):
        if not _binds(signature, "prompt", None):
            raise TypeError(f"An agent takes a prompt and a context, as in `def answer(prompt, ctx)`, not {signature}.")
        return True
    # What has a default is another's, unless it is called as ours is.
    second = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][1:2]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    return variadic or any(p.name in ("ctx", "context") for p in second)


def _binds(signature: Any, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _running_loop() -> asyncio.AbstractEventLoop | None:
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _desk() -> AgentDesk:
    from .connection import connection

    return connection().agents


agent = Agent()
