"""Binds tools to what they do: their arguments checked and typed before the function sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import msgspec

from ..errors import InvalidArguments
from ..host.host import Host, Tool
from ..host.requests import Caller
from ..protocol.base import Data, Json
from ..protocol.tools import DEFINITIONS

A = TypeVar("A", bound=Data)
Function: TypeAlias = Callable[[Host, Caller, A, "float | None"], Any]

TOOLS: dict[str, Tool] = {}


def tool(function: Function[A]) -> Function[A]:
    """Have this function do the tool of its name. It returns the reply, or LATER, or raises one of `errors`."""
    name = function.__name__
    arguments = DEFINITIONS[name].arguments

    def run(host: Host, caller: Caller, raw: dict[str, Json], timeout: float | None) -> Any:
        unknown = [key for key in raw if key not in arguments.__struct_encode_fields__]
        if unknown:
            known = ", ".join(arguments.__struct_encode_fields__) or "none"
            raise InvalidArguments(f"{name} has no argument {unknown[0]!r}. Its arguments: {known}.")
        try:
            typed: Any = msgspec.convert(raw, arguments)
        except (msgspec.ValidationError, RecursionError) as e:
            raise InvalidArguments(f"The arguments of {name} were refused: {e}") from None
        return function(host, caller, typed, timeout)

    TOOLS[name] = run
    return function
