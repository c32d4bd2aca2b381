"""Agents of a kernel: every form of function, on the loop and on threads, with the host inside the process."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_applets import agent, errors, get_messages, send_message, tools
from jupyter_applets.kernel import connection as module
from jupyter_applets.kernel.answering import Answering
from jupyter_applets.kernel.displaying import as_output
from jupyter_applets.link.base import Link
from jupyter_applets.protocol.sessions import AgentReady, HistoryItem, Turn, TurnDelta, TurnOutput, TurnTaken, TurnWaits

WAIT = 10
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(autouse=True)
def fresh_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUPYTER_APPLETS_ROOT", raising=False)
    monkeypatch.delenv("JUPYTER_APPLETS_URL", raising=False)
    monkeypatch.setattr(module, "_connection", None)
    yield
    if module._connection is not None:
        module._connection.close()


async def ask(prompt: str = "hello", **arguments: Any) -> Any:
    return await asyncio.wait_for(tools.call("send_message", {"prompt": prompt, "wait": True, **arguments}), WAIT)


async def said(prompt: str = "hello") -> str:
    text: str = (await ask(prompt))["text"]
    return text


class Recorder(Link):
    """A link that keeps what it is given; the test replies."""

    def __init__(self) -> None:
        super().__init__("nb", "kernel")
        self.posted: list[Any] = []
        self.calls: list[tuple[str, Any, str | None]] = []

    def post(self, message: Any) -> None:
        self.posted.append(message)

    def call(self, name: str, arguments: Any, timeout: float | None = None, turn: str | None = None) -> Any:
        self.calls.append((name, arguments, turn))
        return super().call(name, arguments, timeout, turn)

    def _wake(self) -> None:
        pass

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.posted if isinstance(message, kind)]


def turn(prompt: str = "hello", stream_id: str = "t1", **more: Any) -> Turn:
    return Turn(stream_id, "nb", prompt, "user", "2026-01-01T00:00:00.000Z", **more)


async def until(holds: Any) -> None:
    async def look() -> None:
        while not holds():  # noqa: ASYNC110 (nothing tells us)
            await asyncio.sleep(0.005)

    await asyncio.wait_for(look(), WAIT)


# ---- forms


async def test_an_async_generator_answers_piece_by_piece() -> None:
    @agent
    async def analyst(prompt: str, ctx: Any) -> Any:
        yield f"You said {prompt}. "
        await asyncio.sleep(0)
        yield "Done."

    assert await said() == "You said hello. Done."
    assert agent.current == "analyst"
    assert "analyst" in repr(agent)


async def test_every_form_of_function_answers() -> None:
    async def coroutine(prompt: str) -> str:
        return prompt.upper()

    def plain(prompt: str, ctx: Any) -> str:
        return f"{prompt} in {ctx.session}" if ctx.session else ""

    def generator(prompt: str, ctx: Any) -> Any:
        yield "a"
        yield None
        yield "b"
        return "c"

    async def returns_generator(prompt: str) -> Any:
        return generator(prompt, None)

    class Callable_:  # noqa: N801
        def __call__(self, prompt: str) -> str:
            return "object"

    agent(coroutine)
    assert await said() == "HELLO"
    agent(plain)
    assert (await said()).startswith("hello in ")
    agent(generator)
    assert await said() == "abc"
    agent(returns_generator)
    assert await said() == "abc"
    agent(Callable_())
    assert await said() == "object"
    agent(lambda prompt: None)
    assert await said() == ""


async def test_options_make_a_decorator_and_the_function_is_unchanged() -> None:
    @agent(name="Ada", wake_on_interaction=True)
    def answer(prompt: str) -> str:
        return "x"

    assert answer("direct") == "x"
    assert agent.current == "Ada"


@pytest.mark.parametrize("wrong", ["no function", 3, lambda: None, lambda a, b, c: None])
async def test_what_cannot_answer_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="agent"):
        agent(wrong)


async def test_an_agent_that_raises_ends_its_message_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    @agent
    async def moody(prompt: str, ctx: Any) -> Any:
        yield "Well, "
        if prompt == "raise":
            raise ValueError("no")
        yield "fine."

    with pytest.raises(errors.AgentFailed, match="ValueError: no"):
        await ask("raise")
    assert "ValueError" in caplog.text
    assert await said("go on") == "Well, fine."
    answers = [m for m in await tools.call("get_messages", {}) if m["role"] == "assistant"]
    assert [(m["content"], m["error"]) for m in answers] == [("Well, ", "ValueError: no"), ("Well, fine.", None)]


async def test_echo_and_stop() -> None:
    agent.echo()
    assert await said("say this again") == "say this again"
    agent.stop()
    with pytest.raises(errors.NoAgent, match="@agent"):
        await ask()
    assert agent.current is None


# ---- where it runs


async def test_it_runs_while_a_cell_awaits_and_on_its_loop() -> None:
    threads = []

    @agent
    async def here(prompt: str) -> str:
        threads.append(threading.current_thread())
        return "ok"

    await said()
    assert threads == [threading.main_thread()]


async def test_in_a_busy_kernel_a_turn_is_said_to_wait() -> None:
    link = Recorder()
    answering = Answering(turn(), link, lambda _: "late", lambda _: None)
    answering.start(asyncio.get_running_loop(), context())
    deadline = time.monotonic() + WAIT
    while not link.of(TurnWaits):  # blocks the loop, as a busy cell does
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    assert link.of(TurnTaken) == []
    assert "running cell" in link.of(TurnWaits)[0].message
    await until(lambda: answering.done)
    assert answering.text == "late"


async def test_on_a_thread_it_answers_in_a_busy_kernel() -> None:
    @agent(thread=True)
    async def worker(prompt: str, ctx: Any) -> Any:
        yield threading.current_thread().name

    assert send_message("hello", wait=True)["text"].startswith("jupyter_applets-agent")
    assert get_messages()[-1]["status"] == "done"


async def test_a_cell_that_would_wait_for_itself_is_told_so() -> None:
    @agent
    async def here(prompt: str) -> str:
        return "never"

    with pytest.raises(errors.BlockingCallUnavailable, match="thread=True"):
        send_message("hello", wait=True)


def test_in_a_script_it_runs_on_a_thread() -> None:
    @agent
    def script(prompt: str) -> str:
        return "fine"

    assert send_message("hello", wait=True)["text"] == "fine"


# ---- what goes over the link


def context() -> Any:
    import contextvars

    return contextvars.copy_context()


async def test_ten_thousand_pieces_go_out_as_few_and_whole() -> None:
    link = Recorder()

    def many(_: Any) -> Any:
        yield from (f"{n} " for n in range(10_000))

    answering = Answering(turn(), link, many, lambda _: None)
    answering.start(asyncio.get_running_loop(), context())
    await until(lambda: answering.done)
    deltas = link.of(TurnDelta)
    assert "".join(delta.delta for delta in deltas) == answering.text == "".join(f"{n} " for n in range(10_000))
    assert [delta.at for delta in deltas] == [len("".join(d.delta for d in deltas[:n])) for n in range(len(deltas))]
    assert len(deltas) < 500


async def test_text_goes_out_before_the_tool_call_after_it() -> None:
    @agent
    async def orderly(prompt: str, ctx: Any) -> Any:
        yield "before "
        yield "it "
        await ctx.tools.call("list_windows")
        yield "after"

    await said()
    host = module.connection().local()._driver.host
    recorded = next(iter(host.sessions._turns.values()))
    order = [
        e.name if e.name.startswith("tool") else e.data["delta"]
        for e in recorded.events
        if "delta" in e.data or "tool" in e.name
    ]
    assert "".join(order[: order.index("tool.execution_start")]) == "before it "
    assert order[-1] == "after"


async def test_calls_in_threads_belong_to_the_turn() -> None:
    from jupyter_applets import list_windows

    @agent
    async def threaded(prompt: str, ctx: Any) -> Any:
        await asyncio.to_thread(list_windows)
        return "ok"

    assert [call["name"] for call in (await ask())["toolCalls"]] == ["list_windows"]
    assert await tools.call("list_windows", {}) == []


async def test_after_a_cut_the_whole_text_is_told_again() -> None:
    desk = module.connection().agents
    go_on = asyncio.Event()

    @agent
    async def patient(prompt: str) -> Any:
        yield "Half "
        await go_on.wait()
        yield "done."

    link = Recorder()
    desk.hear(link, turn())
    await until(lambda: link.of(TurnDelta))
    desk.announce(link)
    (running,) = link.of(AgentReady)[-1].running
    assert (running.turn.stream_id, running.text, running.taken) == ("t1", "Half ", True)
    go_on.set()
    await until(lambda: link.calls)
    name, arguments, _ = link.calls[-1]
    assert (name, arguments["text"], arguments["error"]) == ("end_turn", "Half done.", None)
    link._fail_all(errors.LinkLost("cut"))
    desk.announce(link)
    assert [call[0] for call in link.calls] == ["end_turn", "end_turn"]


# ---- stopping


async def test_a_turn_that_is_stopped_stops_its_agent() -> None:
    stopped = asyncio.Event()
    began = asyncio.Event()

    @agent
    async def endless(prompt: str, ctx: Any) -> Any:
        try:
            while True:
                began.set()
                yield "on and "
                await asyncio.sleep(0.01)
        finally:
            stopped.set()

    sent = await tools.call("send_message", {"prompt": "go"})
    await asyncio.wait_for(began.wait(), WAIT)
    driver = module.connection().local()
    done: Any = asyncio.get_running_loop().create_future()

    def stop() -> None:
        host = driver._driver.host
        driver._driver.apply(
            lambda h: h.turns.cancel(host.sessions.turn(sent["streamId"]), errors.Cancelled("Stopped."))
        )
        done.get_loop().call_soon_threadsafe(done.set_result, None)

    driver._thread.call_soon(stop)
    await done
    await asyncio.wait_for(stopped.wait(), WAIT)
    last = (await tools.call("get_messages", {}))[-1]
    assert (last["status"], last["error"]) == ("done", "Stopped.")


async def test_a_plain_function_sees_that_it_is_stopped() -> None:
    link = Recorder()
    seen: list[bool] = []
    entered = threading.Event()

    def loop(answering: Answering) -> str:
        from jupyter_applets.kernel.context import Context

        ctx = Context(module.connection(), answering)
        entered.set()
        while not ctx.cancelled:
            threading.Event().wait(0.005)
        seen.append(True)
        ctx.check()
        return "never said"

    answering = Answering(turn(), link, loop, lambda _: None)
    answering.start(None, context())
    assert await asyncio.to_thread(entered.wait, WAIT)
    answering.cancel()
    await until(lambda: answering.done)
    assert seen == [True]
    assert link.of(TurnDelta) == []


async def test_a_turn_that_is_stopped_before_it_began_never_begins() -> None:
    link = Recorder()
    answering = Answering(turn(), link, lambda _: pytest.fail("it began"), lambda _: None)
    answering.start(asyncio.get_running_loop(), context())
    answering.cancel()
    await until(lambda: answering.done)
    assert link.posted == []


# ---- the context


async def test_an_agent_knows_who_asks_and_what_was_said() -> None:
    seen: list[Any] = []

    @agent
    async def curious(prompt: str, ctx: Any) -> str:
        seen.append(ctx)
        return "hm"

    await said("first")
    await said("second")
    ctx = seen[-1]
    assert (ctx.prompt, ctx.source, ctx.applet, ctx.window_id, ctx.depth) == ("second", "user", None, None, 0)
    assert [(item.role, item.content) for item in ctx.history] == [("user", "first"), ("assistant", "hm")]
    assert ctx.as_messages()[-1] == {"role": "user", "content": "second"}
    assert "app_command" in [schema["function"]["name"] for schema in ctx.tools.schemas()]
    with pytest.raises(errors.InvalidArguments, match="No applet asks"):
        ctx.app()


def test_messages_for_a_model_tell_the_source_the_image_and_interactions() -> None:
    from jupyter_applets.kernel.context import Context
    from jupyter_applets.protocol.sessions import InteractionItem

    given = Turn(
        "t",
        "nb",
        "Look",
        "applet",
        "",
        applet_slug="calc",
        history=[HistoryItem("user", "before", "applet", "calc")],
        interactions=[InteractionItem("calc", "pressed =", "")],
        image_data="data:image/png;base64,AAAA",
    )
    messages = Context(module.connection(), Answering(given, Recorder(), lambda _: None, lambda _: None)).as_messages()
    assert messages[0] == {"role": "user", "content": "[applet:calc] before"}
    text, image = messages[1]["content"]
    assert text["text"].startswith("[applet:calc] Look")
    assert "pressed =" in text["text"]
    assert image["image_url"]["url"] == "data:image/png;base64,AAAA"


async def test_an_agent_sees_and_sets_the_state_of_windows() -> None:
    from jupyter_applets import set_applet_content

    set_applet_content("<p>", window_id="calc")

    @agent
    async def setter(prompt: str, ctx: Any) -> str:
        app = ctx.app("calc")
        app.push(n=2)
        return f"n is {app.state['n']}"

    assert await said() == "n is 2"


# ---- displaying


async def test_what_is_yielded_and_no_text_is_displayed() -> None:
    link = Recorder()

    class Table:
        def _repr_html_(self) -> str:
            return "<table><tr><td>1</td></tr></table>"

    def show(_: Any) -> Any:
        yield "Here: "
        yield Table()
        yield PNG

    answering = Answering(turn(), link, show, lambda _: None)
    answering.start(asyncio.get_running_loop(), context())
    await until(lambda: answering.done)
    table, image = link.of(TurnOutput)
    assert (table.mime, table.data) == ("text/html", "<table><tr><td>1</td></tr></table>")
    assert (image.mime, base64.b64decode(image.data)) == ("image/png", PNG)


def test_displayed_things_have_a_kind_and_a_limit() -> None:
    assert as_output("text") == ("text/plain", "text")
    assert as_output(PNG)[0] == "image/png"
    assert as_output(12)[0] == "text/plain"
    with pytest.raises(errors.InvalidArguments, match="PNG"):
        as_output(b"\x00\x01")
    with pytest.raises(errors.TooLarge):
        as_output(PNG + bytes(9_000_000))


async def test_outputs_are_kept_with_the_message(tmp_path: Path) -> None:
    @agent
    async def painter(prompt: str, ctx: Any) -> Any:
        ctx.display(PNG, title="A pixel")
        yield "There."

    await said()
    await until(lambda: list(tmp_path.rglob("outputs/*.png")))
    last = (await tools.call("get_messages", {}))[-1]
    assert [(o["mime"], o["title"]) for o in last["outputs"]] == [("image/png", "A pixel")]


# ---- what must not go wrong


async def ended(call: Any, *, link: Recorder | None = None) -> tuple[Answering, Recorder]:
    """An answering brought to its end on this loop."""
    link = link or Recorder()
    answering = Answering(turn(), link, call, lambda _: None)
    answering.start(asyncio.get_running_loop(), context())
    await until(lambda: answering.done)
    return answering, link


async def test_half_a_character_is_shown_as_missing() -> None:
    answering, link = await ended(lambda _: "a\ud800b")
    assert answering.text == link.of(TurnDelta)[0].delta == "a\ufffdb"


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_applets.kernel.answering.MAX_ANSWER", 1000)
    answering, link = await ended(lambda _: (piece for piece in ["x" * 300] * 9))
    assert (answering.code, len(answering.text)) == ("TOO_LARGE", 1000)
    assert sum(len(delta.delta) for delta in link.of(TurnDelta)) == 1000


async def test_a_long_answer_goes_out_in_pieces() -> None:
    _, link = await ended(lambda _: "x" * 1_000_000)
    assert [len(delta.delta) for delta in link.of(TurnDelta)] == [250_000] * 4


async def test_an_agent_that_exits_does_not_end_the_kernel() -> None:
    def leave(_: Any) -> str:
        raise SystemExit(3)

    answering, _ = await ended(leave)
    assert answering.error == "SystemExit: 3"


def test_a_loop_that_does_not_run_holds_no_turn_up() -> None:
    loop = asyncio.new_event_loop()
    link = Recorder()
    done = threading.Event()
    answering = Answering(turn(), link, lambda _: "fine", lambda _: done.set())
    answering.start(loop, context())
    assert done.wait(WAIT)
    loop.close()
    assert answering.text == "fine"


async def test_text_before_blocking_work_is_not_held_back() -> None:
    link = Recorder()
    seen: list[str] = []

    def blocks(_: Any) -> Any:
        yield "a"
        yield "b"
        deadline = time.monotonic() + WAIT
        while len(link.of(TurnDelta)) < 2 and time.monotonic() < deadline:
            threading.Event().wait(0.005)
        seen.extend(delta.delta for delta in link.of(TurnDelta))

    await ended(blocks, link=link)
    assert seen == ["a", "b"]


async def test_what_a_stopped_function_calls_is_refused() -> None:
    link = Recorder()
    caught: list[Exception] = []

    def calls(answering: Answering) -> None:
        answering.cancelled = True
        try:
            module.connection().call("", "list_windows", {})
        except errors.Cancelled as e:
            caught.append(e)

    await ended(calls, link=link)
    assert len(caught) == 1


async def test_a_turn_that_outlives_its_agent_is_told_after_a_cut() -> None:
    desk = module.connection().agents
    go_on = asyncio.Event()

    @agent
    async def patient(prompt: str) -> str:
        await go_on.wait()
        return "done"

    link = Recorder()
    desk.hear(link, turn())
    agent.stop()
    desk.announce(link)
    assert [type(message).__name__ for message in link.posted[-2:]] == ["AgentReady", "AgentGone"]
    go_on.set()
    await until(lambda: link.calls)
    assert link.calls[-1][1]["text"] == "done"


async def test_a_second_argument_with_a_default_is_not_the_context() -> None:
    @agent
    def tuned(prompt: str, temperature: float = 0.5) -> str:
        return f"{prompt} at {temperature}"

    assert await said() == "hello at 0.5"

    @agent
    def optional(prompt: str, ctx: Any = None) -> str:
        return ctx.source

    assert await said() == "user"
