"""What the chat's figures run in a kernel."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import anywidget
import traitlets

from jupyter_applets import Chat, agent, tools

from .kernel import report

__all__ = ["Chat", "Trait", "first_tokens", "many", "traits"]

PAUSE = 0.05
"""Between two: each is to meet a page at rest."""


def stamp() -> str:
    return f"T{time.time():.6f}"


class Trait(anywidget.AnyWidget):
    _esm = """
    export default {
      render({ model, el }) {
        el.classList.add('bench-trait');
        const show = () => { el.textContent = model.get('text'); };
        model.on('change:text', show);
        show();
      },
    };
    """
    text = traitlets.Unicode().tag(sync=True)


async def traits(widget: Trait, times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(PAUSE)
        widget.text = stamp()
    await asyncio.sleep(PAUSE)
    report([])


async def first_tokens(times: int) -> None:
    @agent
    async def timed(prompt: str, ctx: Any) -> Any:
        await asyncio.sleep(PAUSE)  # as any agent thinks: the prompt is on the screen by then
        yield stamp()

    for _ in range(times):
        await asyncio.sleep(PAUSE)
        await tools.call("send_message", {"prompt": "now", "wait": True})
    await asyncio.sleep(PAUSE)
    agent.stop()
    report([])


async def many(sessions: int, messages: int) -> None:
    """Each answer comes in five pieces. What was lost or came out of order is an error."""

    @agent
    async def repeats(prompt: str) -> Any:
        for n in range(5):
            yield f"{prompt}.{n} "
            await asyncio.sleep(0)

    first = [tools.call("send_message", {"prompt": "begin", "session": "new", "wait": True}) for _ in range(sessions)]
    await asyncio.gather(*first)
    known = [s["id"] for s in await tools.call("list_sessions") if s["id"].startswith("s-")][-sessions:]
    began = time.perf_counter()

    async def talk(session: str) -> None:
        for n in range(messages):
            arguments = {"prompt": f"{session}:{n}", "session": session, "wait": True}
            await tools.call("send_message", arguments, timeout=120)

    await asyncio.gather(*(talk(session) for session in known))
    took = time.perf_counter() - began
    for session in known:
        found = await tools.call("get_messages", {"session": session, "limit": 2 * messages})
        expected = [x for n in range(messages) for x in _expected(f"{session}:{n}")]
        assert [message["content"] for message in found] == expected, session
    agent.stop()
    report([took])


def _expected(prompt: str) -> list[str]:
    return [prompt, "".join(f"{prompt}.{n} " for n in range(5))]
