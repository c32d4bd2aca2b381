"""An LLM behind an OpenAI-compatible API as an agent: streaming, and our tools. `openai` itself is not imported."""

from __future__ import annotations

import contextlib
import inspect
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec

from ..errors import AgentFailed, AppletError, InvalidArguments
from ..protocol.tools import schemas
from .context import Context

MAX_ROUNDS = 12
MAX_RESULT = 60_000
"""How much of a tool's result a model is given, in characters."""
_ENDS = {
    "length": "The answer was cut off: it reached the model's limit of tokens.",
    "content_filter": "The answer was cut off by the server's content filter.",
}


@dataclass
class _Call:
    """A tool call as its pieces come in."""

    index: int | None
    given: str
    """The id that the server gave it, if it did."""
    name: str = ""
    arguments: str = ""
    id: str = ""


def make_agent(
    client: Any,
    model: str,
    *,
    system: str | None = None,
    tools: bool | Iterable[str] = True,
    max_rounds: int = MAX_ROUNDS,
    **options: Any,
) -> Callable[..., Any]:
    create = getattr(getattr(getattr(client, "chat", None), "completions", None), "create", None)
    if create is None:
        raise InvalidArguments("The client has no chat.completions.create: give an openai.OpenAI(…) or its like.")
    offered = _offered(tools)
    names = [schema["function"]["name"] for schema in offered]

    async def llm(prompt: str, ctx: Context) -> AsyncIterator[str]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        messages += ctx.as_messages()
        for _ in range(max_rounds):
            request = {"model": model, "messages": messages, "stream": True, **options}
            if offered:
                request["tools"] = offered
            said: list[str] = []
            calls: list[_Call] = []
            async with aclosing(_deltas(create, request, calls)) as deltas:
                async for text in deltas:
                    said.append(text)
                    yield text
            if not calls:
                return
            for number, call in enumerate(calls, 1):
                call.id = call.given or f"call_{number}"
            messages.append({"role": "assistant", "content": "".join(said) or None, "tool_calls": _as_json(calls)})
            for call in calls:
                result = await _result(ctx, call, names)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise AgentFailed(f"The model called tools {max_rounds} times in a row without coming to an answer.")

    llm.__name__ = llm.__qualname__ = model
    return llm


def _offered(tools: bool | Iterable[str]) -> list[dict[str, Any]]:
    every = {schema["function"]["name"]: schema for schema in schemas("openai")}
    if isinstance(tools, bool):
        return list(every.values()) if tools else []
    names = [tools] if isinstance(tools, str) else list(tools)
    unknown = [name for name in names if name not in every]
    if unknown:
        raise InvalidArguments(f"There is no tool {unknown[0]!r}. Tools: {', '.join(every)}.", list(every))
    return [every[name] for name in names]


async def _deltas(create: Callable[..., Any], request: dict[str, Any], calls: list[_Call]) -> AsyncGenerator[str, None]:
    """The text as it comes; the tool calls are in `calls` afterwards."""
    is_async = inspect.iscoroutinefunction(inspect.unwrap(create))
    why = None
    async with aclosing(_awaited(create, request) if is_async else _in_thread(create, request)) as chunks:
        async for chunk in chunks:
            choices = getattr(chunk, "choices", None)
            if not choices:
                continue  # usage, or a comment of the server's
            delta = choices[0].delta
            if delta is not None:
                if text := getattr(delta, "content", None):
                    yield text
                for piece in getattr(delta, "tool_calls", None) or []:
                    _take(piece, calls)
            why = choices[0].finish_reason or why
    if why is None:
        raise AgentFailed("The answer broke off: the server closed the stream before its end.")
    if why in _ENDS:  # and a tool call that was cut off is not run
        raise AgentFailed(_ENDS[why])


def _take(piece: Any, calls: list[_Call]) -> None:
    """Calls come in pieces: by index; some servers send each call whole, with an id or without, all at one index."""
    index = getattr(piece, "index", None)
    given = getattr(piece, "id", None) or ""
    function = getattr(piece, "function", None)
    name = getattr(function, "name", None)
    call = _belongs(calls, index, given, name)
    if call is None:
        call = _Call(index, given)
        calls.append(call)
    call.given = call.given or given
    if function is not None:
        # Most send the name once; some repeat it with every piece.
        call.name = call.name if name is None or name == call.name else call.name + name
        arguments = getattr(function, "arguments", None)
        if isinstance(arguments, dict):
            call.arguments = msgspec.json.encode(arguments).decode()
        elif arguments:
            call.arguments += arguments


def _belongs(calls: list[_Call], index: int | None, given: str, name: str | None) -> _Call | None:
    """The call of which this is another piece."""
    for call in reversed(calls):
        if given and call.given:
            if call.given == given:
                return call
        elif (index is not None and call.index == index) or (index is None and not name):
            return call
    return None


async def _result(ctx: Context, call: _Call, names: list[str]) -> str:
    """What the tool gives, or why it does not: the model is to know."""
    if call.name not in names:
        return f"Error: There is no tool {call.name!r}. Tools: {', '.join(names) or 'none'}."
    try:
        value = await ctx.tools.call(call.name, call.arguments or "{}")
    except AppletError as e:
        return f"Error: {e.message}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_RESULT else f"{text[:MAX_RESULT]}… (cut, {len(text):,} characters in all)"


def _as_json(calls: list[_Call]) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
        for call in calls
    ]


async def _awaited(create: Callable[..., Any], request: dict[str, Any]) -> AsyncGenerator[Any, None]:
    stream = await create(**request)
    try:
        async for chunk in stream:
            yield chunk
    finally:
        await _close(stream)


async def _in_thread(create: Callable[..., Any], request: dict[str, Any]) -> AsyncGenerator[Any, None]:
    """A client that blocks is read beside the loop."""
    import asyncio

    stream: Any = await asyncio.to_thread(create, **request)
    if inspect.isawaitable(stream):
        stream = await stream
    if hasattr(stream, "__aiter__"):
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await _close(stream)
        return
    chunks: Iterator[Any] = iter(stream)
    end = object()
    try:
        while (chunk := await asyncio.to_thread(next, chunks, end)) is not end:
            yield chunk
    finally:
        await _close(stream)


async def _close(stream: Any) -> None:
    """The connection is not left to the garbage collector: a model that is stopped stops."""
    network = getattr(getattr(stream, "response", None), "extensions", {}).get("network_stream")
    sock = network.get_extra_info("socket") if network is not None and not hasattr(stream, "__aiter__") else None
    if isinstance(sock, socket.socket):
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)  # a thread that waits for the next piece is not woken by closing
    close = getattr(stream, "close", None)
    if close is not None:
        done = close()
        if inspect.isawaitable(done):
            await done
