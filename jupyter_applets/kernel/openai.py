"""An LLM behind an OpenAI-compatible API as an agent: streaming, and our tools. `openai` itself is not imported."""

from __future__ import annotations

import inspect
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

    id: str = ""
    name: str = ""
    arguments: str = ""


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
            messages.append({"role": "assistant", "content": "".join(said) or None, "tool_calls": _as_json(calls)})
            for call in calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": await _result(ctx, call)})
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
    if why in _ENDS and not calls:
        raise AgentFailed(_ENDS[why])


def _take(piece: Any, calls: list[_Call]) -> None:
    """Calls come in pieces: by index; some servers leave the index out, and send each call whole with an id."""
    index = getattr(piece, "index", None)
    given = getattr(piece, "id", None) or ""
    if index is None:
        index = next((at for at, call in enumerate(calls) if given and call.id == given), None)
        if index is None:
            index = len(calls) if given or not calls else len(calls) - 1
    while len(calls) <= index:
        calls.append(_Call(f"call_{len(calls) + 1}"))
    call = calls[index]
    call.id = given or call.id
    function = getattr(piece, "function", None)
    if function is not None:
        name = getattr(function, "name", None)
        # Most send the name once; some repeat it with every piece.
        call.name = call.name if name is None or name == call.name else call.name + name
        arguments = getattr(function, "arguments", None)
        if isinstance(arguments, dict):
            call.arguments = msgspec.json.encode(arguments).decode()
        elif arguments:
            call.arguments += arguments


async def _result(ctx: Context, call: _Call) -> str:
    """What the tool gives, or why it does not: the model is to know."""
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
    close = getattr(stream, "close", None)
    if close is not None:
        done = close()
        if inspect.isawaitable(done):
            await done
