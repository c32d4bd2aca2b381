"""Manifest: what an applet can do, typed, and shown as a table that a person can read."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from ..protocol.app import AppManifest
from ..protocol.base import Json


class Manifest(AppManifest, frozen=True):
    """An applet's manifest as the kernel sees it."""

    @classmethod
    def of(cls, manifest: AppManifest | dict[str, Json]) -> Manifest:
        plain = manifest if isinstance(manifest, dict) else msgspec.to_builtins(manifest)
        return msgspec.convert(plain, cls)

    def __repr__(self) -> str:
        lines = [f"{self.name or self.app_id or 'Applet'} ({self.app_id})" if self.app_id else self.name or "Applet"]
        for heading, rows in self._rows():
            lines.append(f"  {heading}")
            lines += [f"    {name}{sign}  {text}".rstrip() for name, sign, text in rows] or ["    (none)"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<strong>{escape(self.name or self.app_id or 'Applet')}</strong>"]
        for heading, rows in self._rows():
            cells = "".join(
                f'<tr><td style="text-align:left"><code>{escape(name)}{escape(sign)}</code></td>'
                f'<td style="text-align:left">{escape(text)}</td></tr>'
                for name, sign, text in rows
            )
            parts.append(f'<table><caption style="text-align:left">{heading}</caption>{cells}</table>' if cells else "")
        return "".join(parts)

    def _rows(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        state = [(key, _type_of(of.schema), of.description) for key, of in self.state.items()]
        commands = [(name, _signature(of.params), of.description) for name, of in self.commands.items()]
        return [("state", state), ("commands", commands)]


def _type_of(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return f": {kind}" if isinstance(kind, str) else ""


def _signature(params: Any) -> str:
    """`(cells: object, at?: string)` from a JSON Schema of an object; `(…)` for what has no such form."""
    if params is None:
        return "()"
    properties = params.get("properties") if isinstance(params, dict) else None
    if not isinstance(properties, dict):
        return "(…)"
    required = params.get("required")
    known = required if isinstance(required, list) else []
    shown = [f"{name}{'' if name in known else '?'}{_type_of(of)}" for name, of in properties.items()]
    return f"({', '.join(shown)})"
