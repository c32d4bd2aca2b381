"""Makes the JSON Schema and the TypeScript types from the messages, the one source of truth.

Run `python -m jupyter_applets.protocol.schema js/src/protocol.gen.ts` after a message changed; a test fails until then.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec

from . import app, base, channel, link, sessions

UNIONS: list[tuple[ModuleType, list[str]]] = [
    (app, ["Ask", "Answer", "PortRequest", "PortResponse", "PortNotice"]),
    (channel, []),
    (sessions, []),
    (link, ["FromKernel", "ToKernel", "FromPage", "ToPage"]),
]
CONSTANTS = ["PROTOCOL", "MAX_MESSAGE_BYTES"]


def structs() -> list[type[msgspec.Struct]]:
    """Every message and part of one, in the order in which the modules define them."""
    return [
        value
        for module, _ in UNIONS
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == module.__name__
    ]


def json_schema() -> dict[str, Any]:
    """All messages as one JSON Schema document with a definition each."""
    _, definitions = msgspec.json.schema_components(structs(), ref_template="#/$defs/{name}")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}


def typescript() -> str:
    """The same as TypeScript: an interface a message, a union for what each side may send."""
    definitions = json_schema()["$defs"]
    lines = ["// Generated from jupyter_applets/protocol by `make protocol`. Do not edit.", ""]
    lines += [f"export const {name} = {getattr(base, name)};" for name in CONSTANTS]
    lines += ["", "export type Json = any;", ""]
    for name in (struct.__name__ for struct in structs()):
        lines += _interface(name, definitions[name])
    for module, names in UNIONS:
        for name in names:
            members = " | ".join(member.__name__ for member in get_args(getattr(module, name)))
            lines.append(f"export type {name} = {members};")
    return "\n".join(lines) + "\n"


def _interface(name: str, schema: dict[str, Any]) -> list[str]:
    lines = []
    if description := schema.get("description"):
        text = " ".join(description.split())
        lines.append(f"/** {text} */")
    lines.append(f"export interface {name} {{")
    required = schema.get("required", [])
    for field, of in schema.get("properties", {}).items():
        lines.append(f"  {field}{'' if field in required else '?'}: {_type(of)};")
    return [*lines, "}", ""]


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return " | ".join(_literal(value) for value in schema["enum"])
    if "const" in schema:
        return _literal(schema["const"])
    if "anyOf" in schema:
        return " | ".join(_type(option) for option in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        item = _type(schema.get("items", {}))
        return f"({item})[]" if " " in item else f"{item}[]"
    if kind == "object":
        return f"Record<string, {_type(schema.get('additionalProperties') or {})}>"
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(
        kind or "", "Json"
    )


def _literal(value: Any) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(typescript(), encoding="utf-8")
