"""The tools as functions of the kernel, made from their definitions; for any window of this server, whoever opened it.

`set_applet_content(html, js=…)` and its like take their arguments by position or in snake case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from ..errors import InvalidArguments, UnknownTool
from ..protocol.app import CONSOLE_KEY
from ..protocol.base import Json
from ..protocol.tools import DEFINITIONS, Definition, for_agents
from .connection import connection

_TIMEOUT = inspect.Parameter("timeout", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=float | None)


async def acall(name: str, arguments: Json, timeout: float | None = None) -> Json:
    """Run a tool by name, with the arguments as they stand on the wire."""
    definition = DEFINITIONS.get(name)
    if definition is None or not definition.for_agents:
        names = [d.name for d in for_agents()]
        raise UnknownTool(f"There is no tool {name!r}. Tools: {', '.join(names)}.", names)
    if isinstance(arguments, str):  # as the APIs of some LLMs give them
        try:
            arguments = msgspec.json.decode(arguments or "{}")
        except msgspec.DecodeError as e:
            raise InvalidArguments(f"The arguments of {name} are no JSON: {e}") from None
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"The arguments of {name} are an object, not {arguments!r}.")
    given = {key: value for key, value in arguments.items() if value is not None}
    window_id = _text(given.get("windowId"))
    return await connection().acall(window_id, name, given, timeout, page=_awaiting(name, given) is not None)


@cache
def function(name: str) -> Callable[..., Any]:
    """The tool of that name, as a function that blocks, in a busy cell too."""
    definition = DEFINITIONS[name]
    signature = _signature(definition)
    wire = dict(zip(definition.arguments.__struct_fields__, definition.arguments.__struct_encode_fields__, strict=True))

    def tool(*args: Any, **kwargs: Any) -> Json:
        __tracebackhide__ = True
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f"{name}{signature}: {e}") from None
        timeout = bound.arguments.pop("timeout", None)
        given = {wire[key]: value for key, value in bound.arguments.items() if value is not None}
        return connection().call(_text(given.get("windowId")), name, given, timeout, _awaiting(name, given))

    tool.__name__ = tool.__qualname__ = name
    tool.__module__ = "jupyter_applets"
    tool.__doc__ = _documentation(definition)
    tool.__signature__ = signature  # type: ignore[attr-defined]
    return tool


def __getattr__(name: str) -> Any:
    if name in DEFINITIONS and DEFINITIONS[name].for_agents:
        return function(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _awaiting(name: str, given: dict[str, Json]) -> str | None:
    """How to make the same call with `await`, where a page has to answer it."""
    if name == "app_query" and given.get("stateKey") != CONSOLE_KEY:
        return f"<applet>.aquery({given.get('stateKey')!r})"
    if name == "app_command":
        return f"<applet>.acommand({given.get('command')!r}, …)"
    if name == "get_applet_state" and "selector" in given:
        return 'tools.call("get_applet_state", {…})'
    return None


def _signature(definition: Definition) -> inspect.Signature:
    parameters = []
    for field in msgspec.structs.fields(definition.arguments):
        kind = inspect.Parameter.KEYWORD_ONLY if field.name == "session" else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if field.required else field.default
        parameters.append(inspect.Parameter(field.name, kind, default=default, annotation=_type(field.type)))
    return inspect.Signature([*parameters, _TIMEOUT])


def _type(annotated: Any) -> Any:
    """The type without what is said of it."""
    args: tuple[Any, ...] = getattr(annotated, "__args__", ())
    if hasattr(annotated, "__metadata__"):
        return _type(args[0])
    if type(None) in args and len(args) == 2:
        return _type(args[0]) | None
    return annotated


def _documentation(definition: Definition) -> str:
    lines = [definition.description, ""]
    for field in msgspec.structs.fields(definition.arguments):
        text = _said(field.type)
        if text:
            lines.append(f"{field.name}: {text}")
    return "\n".join([*lines, "timeout: Seconds to wait for the answer."])


def _said(annotated: Any) -> str:
    for meta in getattr(annotated, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and meta.description:
            return meta.description
    return next((text for arg in getattr(annotated, "__args__", ()) if (text := _said(arg))), "")


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
