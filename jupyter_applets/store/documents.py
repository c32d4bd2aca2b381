"""The JSON files of an applet's folder: strict to read, and the same bytes each time they are written.

People and programs write these files too, so a key that is not ours is kept, and a file whose meaning a save does not
change is left as its author wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import BrokenApplet, StoreError


class Meta(msgspec.Struct, rename="camel", kw_only=True):
    """meta.json: what the store knows of an applet."""

    name: str = ""
    description: str = ""
    created: str = ""
    updated: str = ""
    params: Any = UNSET
    agent_usage: Any = UNSET
    state_schema: Any = UNSET
    extra: dict[str, Any] = {}


class AppJson(msgspec.Struct, rename="camel", kw_only=True):
    """app.json: what the author declares."""

    app_protocol: bool = False
    title: str | None = None
    height: int | str | None = None
    file_associations: list[Any] = []
    permissions: dict[str, Any] = {}
    modules: dict[str, str] = {}
    """Names that scripts import, and the files of the folder that they are."""
    extra: dict[str, Any] = {}


_META_KEYS = ("name", "description", "created", "updated", "params", "agentUsage", "stateSchema")
_APP_KEYS = ("appProtocol", "title", "height", "fileAssociations", "permissions", "modules")

Document = TypeVar("Document", Meta, AppJson)


def meta_of(document: dict[str, Any]) -> Meta:
    return _struct("meta.json", document, _META_KEYS, Meta)


def app_of(document: dict[str, Any]) -> AppJson:
    return _struct("app.json", document, _APP_KEYS, AppJson)


def meta_bytes(document: Mapping[str, Any]) -> bytes:
    return encode("meta.json", _ordered(document, _META_KEYS))


def app_bytes(document: Mapping[str, Any]) -> bytes:
    return encode("app.json", _ordered(document, _APP_KEYS))


def state_bytes(state: Mapping[str, Any]) -> bytes:
    return encode("state.json", state, sort_keys=True)


def same(one: object, other: object) -> bool:
    """Whether two values are one to JSON: to Python `1 == True`, and the order of keys means nothing to either."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def decode(name: str, data: bytes) -> dict[str, Any]:
    """The object in a file, or BrokenApplet with what is wrong with it."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise BrokenApplet(f"{name} is empty: it was perhaps cut off while it was written.")
    try:
        # Python's own reader takes NaN, halves of character pairs and keys that come twice.
        msgspec.json.decode(data)
        document = json.loads(data, object_pairs_hook=_once)
    except _Twice as e:
        raise BrokenApplet(f"{name} has the key {e.args[0]!r} twice.") from None
    except (ValueError, RecursionError) as e:
        raise BrokenApplet(f"{name} is not valid JSON: {e}") from None
    if not isinstance(document, dict):
        raise BrokenApplet(f"{name} must hold a JSON object, not {_kind(document)}.")
    return document


def encode(name: str, document: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    try:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)
        data = f"{text}\n".encode()
        msgspec.json.decode(data)
    except (TypeError, ValueError, RecursionError) as e:
        raise StoreError(f"This cannot be saved in {name}: {e}") from None
    return data


class _Twice(Exception):
    """A key that stands twice in an object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


def _struct(name: str, document: dict[str, Any], keys: tuple[str, ...], kind: type[Document]) -> Document:
    known = {key: document[key] for key in keys if key in document}
    extra = {key: document[key] for key in sorted(document) if key not in keys}
    try:
        return msgspec.convert({**known, "extra": extra}, kind)
    except msgspec.ValidationError as e:
        # "Expected `str`, got `int` - at `$.name`"
        what, _, where = str(e).partition(" - at ")
        key = re.sub(r"^\$\.", "", where.strip("`"))
        raise BrokenApplet(
            f"{name}: {key or 'the document'} is of the wrong type ({what[0].lower()}{what[1:]})."
        ) from None


def _ordered(document: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    ours = {key: document[key] for key in keys if key in document}
    return {**ours, **{key: document[key] for key in sorted(document) if key not in ours}}


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a bare value")
