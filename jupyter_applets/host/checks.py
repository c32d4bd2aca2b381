"""Checks a call against the applet's manifest before the applet sees it, and words the refusal.

A manifest is untrusted: its schemas are bounded, never fetched from anywhere, and matched in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import msgspec

from ..errors import InvalidParams, UnknownCommand, UnknownStateKey
from ..protocol.app import CONSOLE_KEY, MANIFEST_KEY, AppManifest, CommandAsk
from ..protocol.base import Json

MAX_SCHEMA_BYTES = 64 * 1024
MAX_REFS = 20
MAX_NAMES = 40
MAX_ERRORS = 5
MAX_FAULT = 300


def check_state_key(manifest: AppManifest, key: str) -> None:
    if key in manifest.state or key in (MANIFEST_KEY, CONSOLE_KEY):
        return
    if key in manifest.commands:
        raise UnknownStateKey(f"{key!r} is a command, not a state key: run it with app_command.", list(manifest.state))
    raise UnknownStateKey(
        f"Unknown state key: {key}. {_listing('State keys', manifest.state)}", [MANIFEST_KEY, *manifest.state]
    )


def check_command(manifest: AppManifest, ask: CommandAsk, validators: Validators) -> None:
    descriptor = manifest.commands.get(ask.command)
    if descriptor is None:
        if ask.command in manifest.state:
            raise UnknownCommand(
                f"{ask.command!r} is a state key, not a command: read it with app_query.", list(manifest.commands)
            )
        raise UnknownCommand(
            f"Unknown command: {ask.command}. {_listing('Commands', manifest.commands)}", list(manifest.commands)
        )
    if descriptor.params is not None:
        validators.check(ask.command, descriptor.params, {} if ask.params is msgspec.UNSET else ask.params)


def _listing(what: str, names: Iterable[str]) -> str:
    known = list(names)
    if not known:
        return f"{what}: none."
    more = f", and {len(known) - MAX_NAMES} more" if len(known) > MAX_NAMES else ""
    return f"{what}: {', '.join(known[:MAX_NAMES])}{more}."


class UnusableSchema(Exception):
    """The manifest's schema cannot be used; the command runs unchecked, and the author finds why in the logs."""


class Validators:
    """Compiled schemas, kept by their text: applets of one kind share them, and a reload compiles nothing."""

    def __init__(self, limit: int = 1_000) -> None:
        self._compiled: dict[bytes, Any] = {}
        self._limit = limit

    def check(self, command: str, schema: dict[str, Json] | bool, params: Json) -> None:
        """Raise InvalidParams when `params` breaks `schema`, UnusableSchema when that cannot be told."""
        validator = self._validator(schema)
        try:
            if validator.is_valid(params):
                return
            faults = [_sentence(fault) for fault in islice(validator.iter_errors(params), MAX_ERRORS)]
        except ValueError as e:  # jsonschema-rs gives up on what is nested too deeply
            raise InvalidParams(f"The params of {command!r} cannot be checked: {e}.") from None
        raise InvalidParams(f"The params of {command!r} do not fit its schema. {'; '.join(faults)}")

    def _validator(self, schema: dict[str, Json] | bool) -> Any:
        key = msgspec.json.encode(schema)
        compiled = self._compiled.get(key)
        if compiled is None:
            if len(self._compiled) >= self._limit:
                self._compiled.clear()
            compiled = self._compiled[key] = _compile(schema, key)
        if isinstance(compiled, str):
            raise UnusableSchema(compiled)
        return compiled


def _sentence(fault: Any) -> str:
    at = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in fault.instance_path)
    message = fault.message if len(fault.message) <= MAX_FAULT else f"{fault.message[:MAX_FAULT]}…"
    return f"params{at}: {message}"


def _compile(schema: dict[str, Json] | bool, text: bytes) -> Any:
    """A validator, or, as text, why there can be none."""
    if len(text) > MAX_SCHEMA_BYTES:
        return f"it is larger than {MAX_SCHEMA_BYTES // 1024} kB"
    if text.count(b'"$ref"') > MAX_REFS:
        return f"it has more than {MAX_REFS} references"
    import jsonschema_rs  # slow to load, and many applets declare no schema

    try:
        return jsonschema_rs.validator_for(
            schema, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions(size_limit=1 << 20)
        )
    except Exception as e:  # jsonschema-rs raises ValidationError, ReferencingError and plain ValueError here
        return str(e).splitlines()[0]


def _refuse(uri: str) -> Any:
    raise ValueError(f"a schema may not refer to {uri}")
