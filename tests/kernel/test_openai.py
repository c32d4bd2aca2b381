"""`agent.from_openai`, with the real client against a local server that speaks the API's recorded shapes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI

from jupyter_applets import agent, errors, tools

from .test_agents import WAIT, ask, fresh_connection  # noqa: F401 (a fixture for every test here)


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


HELLO = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Hel"}),
    chunk({"content": "lo."}),
    chunk({}, "stop"),
]
USAGE = {**chunk({}), "choices": [], "usage": {"total_tokens": 3}}


def begun(arguments: str = "{}", name: str = "list_windows", **more: Any) -> dict[str, Any]:
    """A tool call's first piece."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


def more(arguments: str, index: int = 0) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})


# The same call as servers send it: in fragments (OpenAI, vLLM), whole (Ollama), or without an id (llama.cpp).
FRAGMENTS = [
    chunk({"role": "assistant", "content": None, "tool_calls": [begun("", index=0, id="call_a")]}),
    more("{"),
    more("}"),
    chunk({}, "tool_calls"),
    USAGE,
]
WHOLE = [
    chunk({"role": "assistant", "content": "", "tool_calls": [begun(index=0, id="call_x")]}),
    chunk({"content": ""}, "stop"),
]
WITHOUT_ID = [chunk({"tool_calls": [begun(index=0)]}), chunk({}, "tool_calls")]
TWO = [
    chunk({"tool_calls": [begun(index=0, id="a")]}),
    chunk({"tool_calls": [begun('{"path": ', "read_file", index=1, id="b")]}),
    more('"nope.txt"}', 1),
    chunk({}, "tool_calls"),
]


class Server:
    """Answers each request with the next of `answers`: chunks, or a status, or chunks that stop coming."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.requests: list[Any] = []
        self.closed = threading.Event()
        self.hold = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None: ...

            def do_POST(self) -> None:
                server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                server.answer(self, server.answers.pop(0))

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def answer(self, handler: BaseHTTPRequestHandler, answer: Any) -> None:
        if isinstance(answer, int):
            body = json.dumps({"error": {"message": "It is not to be.", "code": answer}}).encode()
            handler.send_response(answer)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        try:
            for item in answer:
                if item == "cut":
                    return
                if item == "still":
                    handler.wfile.write(f"data: {json.dumps(HELLO[1])}\n\n".encode())
                    handler.wfile.flush()
                    handler.connection.settimeout(WAIT)
                    handler.connection.recv(1)  # until the other end is closed
                    self.closed.set()
                    return
                if item == "endless":
                    while not self.hold.wait(0.01):
                        handler.wfile.write(f"data: {json.dumps(chunk({'content': 'x'}))}\n\n".encode())
                        handler.wfile.flush()
                handler.wfile.write(f"data: {json.dumps(item)}\n\n".encode())
                handler.wfile.flush()
            handler.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            self.closed.set()

    def close(self) -> None:
        self.hold.set()
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(params=[OpenAI, AsyncOpenAI], ids=["sync", "async"])
def client(request: pytest.FixtureRequest, server: Server) -> Any:
    return request.param(base_url=server.url, api_key="none", max_retries=0)


async def test_an_answer_is_streamed(server: Server, client: Any) -> None:
    agent.from_openai(client, "m", system="Be kind.", temperature=0)
    server.answers = [HELLO]
    assert (await ask("Hi"))["text"] == "Hello."
    (request,) = server.requests
    assert request["messages"] == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
    assert (request["model"], request["stream"], request["temperature"]) == ("m", True, 0)
    assert "app_command" in [tool["function"]["name"] for tool in request["tools"]]
    assert agent.current == "m"


async def test_the_conversation_goes_on(server: Server, client: Any) -> None:
    agent.from_openai(client, "m", tools=False)
    server.answers = [HELLO, HELLO]
    await ask("one")
    await ask("two")
    assert [m["content"] for m in server.requests[-1]["messages"]] == ["one", "Hello.", "two"]
    assert "tools" not in server.requests[-1]


@pytest.mark.parametrize("shape", [FRAGMENTS, WHOLE, WITHOUT_ID], ids=["fragments", "whole", "without an id"])
async def test_a_tool_is_called_and_its_result_goes_back(server: Server, client: Any, shape: Any) -> None:
    agent.from_openai(client, "m", tools=["list_windows"])
    server.answers = [shape, HELLO]
    result = await ask("Which windows?")
    assert result["text"] == "Hello."
    assert [call["name"] for call in result["toolCalls"]] == ["list_windows"]
    asked, answered = server.requests[-1]["messages"][-2:]
    assert asked["tool_calls"][0]["function"] == {"name": "list_windows", "arguments": "{}"}
    assert (answered["role"], answered["tool_call_id"]) == ("tool", asked["tool_calls"][0]["id"])
    assert answered["content"] == "[]"


async def test_two_calls_at_once_and_one_that_fails(server: Server, client: Any) -> None:
    agent.from_openai(client, "m")
    server.answers = [TWO, HELLO]
    assert (await ask("Both"))["text"] == "Hello."
    results = [m for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["a", "b"]
    assert results[1]["content"].startswith("Error: ")
    assert "nope.txt" in results[1]["content"]


async def test_a_model_that_only_calls_tools_is_stopped(server: Server, client: Any) -> None:
    agent.from_openai(client, "m", max_rounds=2)
    server.answers = [WHOLE, WHOLE]
    with pytest.raises(errors.AgentFailed, match="2 times"):
        await ask()


@pytest.mark.parametrize(("status", "name"), [(401, "AuthenticationError"), (500, "InternalServerError")])
async def test_the_servers_errors_are_the_answers(server: Server, client: Any, status: int, name: str) -> None:
    agent.from_openai(client, "m")
    server.answers = [status]
    with pytest.raises(errors.AgentFailed, match=name):
        await ask()
    server.answers = [HELLO]
    assert (await ask())["text"] == "Hello."


@pytest.mark.parametrize(("why", "words"), [("length", "tokens"), ("content_filter", "filter")])
async def test_an_answer_that_was_cut_off_is_said_to_be(server: Server, client: Any, why: str, words: str) -> None:
    agent.from_openai(client, "m")
    server.answers = [[*HELLO[:-1], chunk({}, why)]]
    with pytest.raises(errors.AgentFailed, match=words):
        await ask()


async def test_a_stream_that_breaks_off_without_an_end_keeps_what_came(server: Server, client: Any) -> None:
    agent.from_openai(client, "m")
    server.answers = [[*HELLO[:2], "cut"]]
    with pytest.raises(errors.AgentFailed, match="broke off"):
        await ask()
    assert (await tools.call("get_messages", {}))[-1]["content"] == "Hel"


async def test_stopping_closes_the_connection(server: Server, client: Any) -> None:
    agent.from_openai(client, "m")
    server.answers = [["endless"]]
    with pytest.raises(errors.CallTimeout):
        await tools.call("send_message", {"prompt": "on and on", "wait": True}, timeout=0.5)
    assert await asyncio.to_thread(server.closed.wait, WAIT)


def test_what_is_no_client_and_tools_that_are_not_there_are_refused(server: Server) -> None:
    with pytest.raises(errors.InvalidArguments, match="OpenAI"):
        agent.from_openai(object(), "m")
    with pytest.raises(errors.InvalidArguments, match="nope"):
        agent.from_openai(OpenAI(base_url=server.url, api_key="none"), "m", tools=["nope"])


async def test_only_offered_tools_are_run(server: Server, client: Any) -> None:
    agent.from_openai(client, "m", tools=["list_windows"])
    server.answers = [TWO, HELLO]
    result = await ask("Both")
    assert [call["name"] for call in result["toolCalls"]] == ["list_windows"]
    assert "There is no tool 'read_file'" in server.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("ids", [("a", "b"), (None, None)], ids=["ids", "no ids"])
async def test_whole_calls_at_one_index_are_two(server: Server, client: Any, ids: Any) -> None:
    agent.from_openai(client, "m")
    first, second = ({"id": given} if given else {} for given in ids)
    where = {"index": 0} if ids[0] else {}
    pieces = [begun(**first, **where), begun('{"path": ""}', "list_files", **second, **where)]
    server.answers = [[chunk({"tool_calls": pieces}), chunk({}, "tool_calls")], HELLO]
    result = await ask("Both")
    assert [call["name"] for call in result["toolCalls"]] == ["list_windows", "list_files"]


async def test_a_call_that_was_cut_off_is_not_run(server: Server, client: Any) -> None:
    agent.from_openai(client, "m")
    server.answers = [
        [chunk({"tool_calls": [begun('{"path": "a', "write_file", index=0, id="a")]}), chunk({}, "length")]
    ]
    with pytest.raises(errors.AgentFailed, match="tokens"):
        await ask()


async def test_stopping_closes_a_stream_that_stands_still(server: Server, client: Any) -> None:
    agent.from_openai(client, "m")
    server.answers = [["still"]]
    with pytest.raises(errors.CallTimeout):
        await tools.call("send_message", {"prompt": "wait", "wait": True}, timeout=0.5)
    assert await asyncio.to_thread(server.closed.wait, WAIT)
