"""Sessions over HTTP, server-sent events and sockets, with a kernel that answers over a real one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from jupyter_applets.protocol.base import PROTOCOL

from ..running_server import WAIT, Ask, OpenPage, Page, reply, until
from .test_files import refused, value


class AgentKernel(Page):
    """A kernel that answers for its session: by hand, or by itself with `answers`."""

    async def start(self, name: str = "analyst", session: str = "nb", **ready: Any) -> None:
        hello = {"protocol": PROTOCOL, "version": "0.1.0", "role": "kernel", "session": session, "id": f"k-{session}"}
        await self.send({"type": "hello", **hello}, {"type": "agentReady", "agent": name, **ready})
        assert (await self.next())["type"] == "welcome"

    async def turn(self) -> Any:
        return await self._find(lambda message: message["type"] == "turn")

    async def _find(self, fits: Callable[[Any], bool]) -> Any:
        """The next message of that kind; others are for later."""
        others = []
        while not fits(message := await self.next()):
            others.append(message)
        self._ready = [*others, *self._ready]
        return message

    async def answer(self, turn: Any, *pieces: str, wait: bool = True, **failed: Any) -> None:
        await self.say(turn, *pieces)
        arguments = {"streamId": turn["streamId"], "text": "".join(pieces), **failed}
        call = f"end-{turn['streamId']}"
        await self.send({"type": "call", "id": call, "name": "end_turn", "arguments": arguments})
        if wait:
            await self._find(lambda message: message.get("id") == call)

    async def say(self, turn: Any, *pieces: str, at: int = 0) -> None:
        await self.send({"type": "turnTaken", "streamId": turn["streamId"]})
        for piece in pieces:
            await self.send({"type": "turnDelta", "streamId": turn["streamId"], "delta": piece, "at": at})
            at += len(piece)


OpenAgent = Callable[..., Awaitable[AgentKernel]]


@pytest.fixture
def open_agent(base: str, secret: str) -> Iterator[OpenAgent]:
    kernels: list[AgentKernel] = []

    async def open_agent(name: str = "analyst", session: str = "nb", **ready: Any) -> AgentKernel:
        url = f"{base}applets/ws/kernel".replace("http", "ws", 1)
        headers = {"Authorization": f"token {secret}"}
        kernels.append(AgentKernel(await websocket_connect(HTTPRequest(url, headers=headers))))
        await kernels[-1].start(name, session, **ready)
        return kernels[-1]

    yield open_agent
    for kernel in kernels:
        kernel.socket.close()


def events_of(text: str) -> list[tuple[str, str, Any]]:
    """(id, event, data) of each server-sent event."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


Reader = Callable[..., "asyncio.Task[str]"]


@pytest.fixture
def read_stream(base: str, jp_auth_header: dict[str, str]) -> Reader:
    """Read a stream until its end; `seen` gets what came so far."""

    def read(stream_id: str, *, last: str | None = None, seen: list[str] | None = None, query: str = "") -> Any:
        async def run() -> str:
            parts: list[bytes] = []

            def take(part: bytes) -> None:
                parts.append(part)
                if seen is not None:
                    seen.append(part.decode())

            headers = {**jp_auth_header, **({"Last-Event-ID": last} if last else {})}
            url = f"{base}applets/api/stream/{stream_id}{query}"
            await AsyncHTTPClient().fetch(
                HTTPRequest(url, headers=headers, streaming_callback=take, request_timeout=WAIT), raise_error=False
            )
            return b"".join(parts).decode()

        return asyncio.ensure_future(run())

    return read


async def test_a_session_is_made_spoken_to_and_read(ask: Ask, open_agent: OpenAgent, read_stream: Reader) -> None:
    agent = await open_agent()
    made = await ask("api/sessions", "POST", "")
    assert made.code == 201
    session = json.loads(made.body)["sessionId"]
    sent = value(await ask(f"api/sessions/{session}/messages", "POST", {"prompt": "hello"}))
    reading = read_stream(sent["streamId"])
    turn = await agent.turn()
    assert (turn["prompt"], turn["sessionId"]) == ("hello", session)
    await agent.answer(turn, "Hi ", "there.")
    names = [(name, data.get("delta") or data.get("content")) for _, name, data in events_of(await reading)]
    assert names[0][0] == "message.started"
    assert names[-4:] == [
        ("assistant.message_delta", "Hi "),
        ("assistant.message_delta", "there."),
        ("assistant.message", "Hi there."),
        ("done", None),
    ]
    history = value(await ask("api/history", session=session))
    assert [(m["source"], m["appletSlug"], m["content"]) for m in history] == [
        ("user", None, "hello"),
        ("assistant", None, "Hi there."),
    ]
    assert session in [s["id"] for s in value(await ask("api/sessions"))]


async def test_a_reader_that_comes_back_misses_nothing(ask: Ask, open_agent: OpenAgent, read_stream: Reader) -> None:
    agent = await open_agent()
    sent = value(await ask("api/sessions/nb/messages", "POST", {"prompt": "count"}))
    turn = await agent.turn()
    await agent.say(turn, "1 ", "2 ")
    seen: list[str] = []
    first = read_stream(sent["streamId"], seen=seen)
    await until(lambda: '"2 "' in "".join(seen))
    first.cancel()
    last = events_of("".join(seen))[-1][0]
    await agent.say(turn, "3 ", at=4)
    rest = read_stream(sent["streamId"], last=last)
    await agent.answer(turn, "1 ", "2 ", "3 ", "4")
    deltas = [data["delta"] for _, name, data in events_of(await rest) if name == "assistant.message_delta"]
    assert deltas == ["3 ", "4"]
    done = events_of(await read_stream(sent["streamId"]))[-1]
    assert done[1] == "done"
    assert await read_stream(sent["streamId"], last=done[0]) == ""


async def test_a_reader_of_another_host_goes_on_by_length(ask: Ask, open_agent: OpenAgent, read_stream: Reader) -> None:
    agent = await open_agent()
    sent = value(await ask("api/sessions/nb/messages", "POST", {"prompt": "count"}))
    await agent.answer(await agent.turn(), "one two three")
    await read_stream(sent["streamId"])
    text = await read_stream(sent["streamId"], last="otherhost-7-4")
    assert [data["delta"] for _, name, data in events_of(text) if name == "assistant.message_delta"] == ["two three"]
    assert events_of(text)[-1][1] == "done"


async def test_a_slow_reader_holds_nobody_up(
    ask: Ask, open_agent: OpenAgent, jp_auth_header: dict[str, str], jp_http_port: int, jp_base_url: str
) -> None:
    """It does not read at all; others get everything, and so does it when it reads."""
    agent = await open_agent()
    sent = value(await ask("api/sessions/nb/messages", "POST", {"prompt": "much"}))
    turn = await agent.turn()
    reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port, limit=2**16)
    path = f"{jp_base_url}applets/api/stream/{sent['streamId']}"
    token = jp_auth_header["Authorization"]
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n\r\n".encode())
    pieces = ["x" * 100_000] * 100
    await agent.answer(turn, *pieces)
    history = value(await ask("api/history", session="nb"))
    while history[-1]["status"] != "done":
        history = value(await ask("api/history", session="nb"))
    assert len(history[-1]["content"]) == 10_000_000
    got = 0
    while got < 10_000_000:
        got += (await asyncio.wait_for(reader.read(2**20), WAIT)).count(b"x")
    writer.close()


async def test_streams_that_are_not_there(ask: Ask) -> None:
    refused(await ask("api/stream/nope"), 404, "STREAM_NOT_FOUND")
    refused(await ask("api/stream/nope", "DELETE"), 404, "STREAM_NOT_FOUND")
    refused(await ask("api/sessions/nope/messages", "POST", {"prompt": "x"}), 404, "SESSION_NOT_FOUND")
    refused(await ask("api/history", session="nope"), 404, "SESSION_NOT_FOUND")
    refused(await ask("api/message", "POST", {"prompt": "x"}), 404, "SESSION_NOT_FOUND")


async def test_bad_bodies_are_told(ask: Ask, open_agent: OpenAgent) -> None:
    await open_agent()
    for body in ("", "[]", "{", {"prompt": 1}, {"prompt": ""}, {"prompt": "x", "source": "root"}):
        refused(await ask("api/sessions/nb/messages", "POST", body), 400, "INVALID_ARGUMENTS")
    refused(await ask("api/history", session="nb", limit="many"), 400, "INVALID_ARGUMENTS")


async def test_a_message_to_the_active_session_brings_the_applets_state(
    ask: Ask, open_agent: OpenAgent, open_page: OpenPage, make_link: Any
) -> None:
    agent = await open_agent()
    await reply(make_link().call("set_applet_content", {"html": "<p>", "windowId": "calc"}))
    page = await open_page()
    await page.hello()
    await page.send({"type": "openChat", "id": "c"})
    while (await page.next())["type"] != "result":
        pass
    body = {"prompt": "and now?", "appletState": {"display": "42"}, "correlationId": "x1"}
    sent = value(await ask("api/message", "POST", body))
    assert sent["sessionId"] == "nb"
    turn = await agent.turn()
    assert turn["correlationId"] == "x1"
    assert value(await ask("api/applet/state", session="nb"))["state"] == {"display": "42"}


async def test_turns_are_stopped_over_http(ask: Ask, open_agent: OpenAgent, read_stream: Reader) -> None:
    agent = await open_agent()
    sent = value(await ask("api/sessions/nb/messages", "POST", {"prompt": "long"}))
    turn = await agent.turn()
    await agent.say(turn, "Once")
    reading = read_stream(sent["streamId"])
    assert value(await ask(f"api/stream/{sent['streamId']}", "DELETE"))["ok"]
    assert (await agent.next())["type"] == "turnCancel"
    assert events_of(await reading)[-1][2]["code"] == "CANCELLED"


async def test_the_seeds_html_shows_orange_bubbles(ask: Ask, open_agent: OpenAgent) -> None:
    agent = await open_agent()
    for body in (
        {"prompt": "What is 2+2?", "source": "applet", "appletSlug": "calculator"},
        {"prompt": "[applet:fake] <b>hi</b>"},
        {"prompt": "hm", "source": "agent", "appletSlug": 'x"><script>'},
    ):
        value(await ask("api/sessions/nb/messages", "POST", body))
        await agent.answer(await agent.turn(), "<i>ok</i>")
    for _ in range(2):  # the second time from what is in memory and, in the next test, from the disk
        page = (await ask("api/history", headers={"Accept": "text/html"}, session="nb")).body.decode()
        assert '<div class="message user applet-invoked" data-applet-source="calculator">What is 2+2?</div>' in page
        assert '<div class="message user">[applet:fake] &lt;b&gt;hi&lt;/b&gt;</div>' in page
        assert "<script" not in page
        assert '<div class="message assistant">&lt;i&gt;ok&lt;/i&gt;</div>' in page


async def test_what_was_said_is_kept_as_the_seed_says(ask: Ask, open_agent: OpenAgent, jp_root_dir: Path) -> None:
    agent = await open_agent()
    body = {"prompt": "What is 2+2?", "source": "applet", "appletSlug": "calculator"}
    value(await ask("api/sessions/nb/messages", "POST", body))
    await agent.answer(await agent.turn(), "4")
    value(await ask("api/sessions/nb/messages", "POST", {"prompt": "[applet:me] no"}))
    await agent.answer(await agent.turn(), "ok", error="ValueError: no", code="AGENT_FAILED")
    folder = jp_root_dir / ".jupyter-applets" / "sessions" / "nb"
    journal = folder / "events.jsonl"
    await until(lambda: journal.exists() and journal.read_text().count("\n") == 4)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [(line["type"], line["data"]["content"]) for line in lines] == [
        ("user.message", "[applet:calculator] What is 2+2?"),
        ("assistant.message", "4"),
        ("user.message", "\\[applet:me] no"),
        ("assistant.message", "ok"),
    ]
    meta = json.loads((folder / "message-meta.json").read_text())
    rows = [(m["source"], m["appletSlug"], m["prompt"]) for m in meta["messages"]]
    assert rows == [("applet", "calculator", "What is 2+2?"), ("user", None, "[applet:me] no")]
    assert set(meta["messages"][0]) == {"timestamp", "source", "appletSlug", "prompt"}


async def test_an_applet_needs_the_permission_and_speaks_under_its_own_name(
    ask: Ask, open_agent: OpenAgent, make_link: Any
) -> None:
    agent = await open_agent()
    link = make_link()
    await reply(link.call("set_applet_content", {"html": "<p>", "windowId": "w"}))
    where = {"session": "nb", "windowId": "w"}
    for route, verb, body in (
        ("api/sessions", "GET", None),
        ("api/sessions", "POST", ""),
        ("api/sessions/nb/messages", "POST", {"prompt": "x"}),
        ("api/message", "POST", {"prompt": "x"}),
        ("api/history", "GET", None),
        ("api/stream/x", "GET", None),
    ):
        refused(await ask(route, verb, body, **where), 403, "PERMISSION_NEEDED")
    content = {"html": "<p>", "windowId": "w", "permissions": {"agent": True}}
    await reply(link.call("set_applet_content", content))
    body = {"prompt": "x", "source": "user", "appletSlug": "someone-else"}
    value(await ask("api/message", "POST", body, **where))
    turn = await agent.turn()
    assert (turn["source"], turn["appletSlug"], turn["windowId"]) == ("applet", "w", "w")


async def test_an_applet_reads_its_own_notebook_and_what_was_made_there(
    ask: Ask, open_agent: OpenAgent, make_link: Any
) -> None:
    await open_agent()
    await open_agent(session="other")
    content = {"html": "<p>", "windowId": "w", "permissions": {"agent": True}}
    await reply(make_link().call("set_applet_content", content))
    where = {"windowId": "w"}
    made = json.loads((await ask("api/sessions", "POST", "", session="nb", **where)).body)["sessionId"]
    assert value(await ask(f"api/sessions/{made}/messages", session="nb", **where)) == []
    refused(await ask("api/sessions/other/messages", session="nb", **where), 403, "FORBIDDEN")
    ids = [s["id"] for s in value(await ask("api/sessions", session="nb", **where))]
    assert "other" not in ids
    assert made in ids
    sent = value(await ask("api/sessions/other/messages", "POST", {"prompt": "secret"}))
    refused(await ask(f"api/stream/{sent['streamId']}", session="nb", **where), 403, "FORBIDDEN")


async def test_everyone_on_the_session_channel_hears_of_a_message(
    ask: Ask, open_agent: OpenAgent, open_page: OpenPage
) -> None:
    agent = await open_agent()
    plain = await open_page()
    await plain.send({"type": "invoke", "id": "1", "prompt": "Analyze this", "background": False})
    started = await plain.next()
    assert started["type"] == "messageStarted"
    assert (started["prompt"], started["source"], started["showInChat"]) == ("Analyze this", "applet", True)
    ready = [await plain.next(), await plain.next()]
    assert [(m["type"], m["streamId"]) for m in ready] == [
        ("streamReady", started["streamId"]),
        ("streamConnected", started["streamId"]),
    ]
    await agent.answer(await agent.turn(), "Well.")
    seen = []
    while (message := await plain.next())["type"] != "invokeComplete":
        seen.append(message)
    assert [m["delta"] for m in seen if m["type"] == "stream" and m.get("id") == "1"] == ["Well."]
    assert message["result"] == {"text": "Well.", "state": {}, "toolCalls": []}
    assert [m["streamId"] for m in seen if m["type"] == "messageDone"] == [started["streamId"]]


async def test_an_image_comes_with_a_prompt_and_is_kept(ask: Ask, open_agent: OpenAgent) -> None:
    agent = await open_agent()
    pixel = "data:image/png;base64,iVBORw0KGgo="
    value(await ask("api/sessions/nb/messages", "POST", {"prompt": "look", "imageData": pixel}))
    turn = await agent.turn()
    assert turn["imageData"] == pixel
    await agent.send(
        {"type": "turnOutput", "streamId": turn["streamId"], "mime": "text/html", "data": "<table>", "title": "T"}
    )
    await agent.answer(turn, "seen")
    while (history := value(await ask("api/history", session="nb")))[-1]["status"] != "done":
        pass
    image = await ask(f"api/sessions/nb/outputs/{history[0]['image']}")
    assert (image.code, image.headers["Content-Type"], image.body) == (200, "image/png", b"\x89PNG\r\n\x1a\n")
    assert "sandbox" in image.headers["Content-Security-Policy"]
    (output,) = history[-1]["outputs"]
    shown = value(await ask(f"api/sessions/nb/outputs/{output['name']}", json=1))
    assert (shown["mime"], shown["data"]) == ("text/html", "<table>")
    for name in ("..%2f..%2fx", "nope.png", "outputs.json"):
        refused(await ask(f"api/sessions/nb/outputs/{name}"), 404, "FILE_MISSING")


async def test_a_hundred_sessions_of_fifty_messages_lose_nothing_and_mix_nothing_up(
    ask: Ask, open_agent: OpenAgent
) -> None:
    """All at once: each answer is whole, and in order."""
    agent = await open_agent()
    sessions = [json.loads((await ask("api/sessions", "POST", "")).body)["sessionId"] for _ in range(100)]

    async def answer_all() -> None:
        for _ in range(100 * 50):
            turn = await agent.turn()
            await agent.answer(turn, *(f"{turn['prompt']}.{n} " for n in range(5)), wait=False)

    answering = asyncio.ensure_future(answer_all())

    async def talk(session: str) -> None:
        for n in range(50):
            value(await ask(f"api/sessions/{session}/messages", "POST", {"prompt": f"{session}:{n}"}))

    await asyncio.gather(*(talk(session) for session in sessions))
    await asyncio.wait_for(answering, 60)
    for session in sessions:
        history = value(await ask("api/history", session=session))
        while any(m["status"] != "done" for m in history):
            history = value(await ask("api/history", session=session))
        expected = []
        for n in range(50):
            prompt = f"{session}:{n}"
            expected += [prompt, "".join(f"{prompt}.{k} " for k in range(5))]
        assert [m["content"] for m in history] == expected
