"""The golden messages, which the TypeScript tests read too: each side accepts and refuses the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_applets.protocol import app, channel, link, sessions
from jupyter_applets.protocol.frames import Codec, Wrong, encode

VECTORS = [
    json.loads(path.read_text("utf-8")) for path in sorted((Path(__file__).parents[1] / "vectors").glob("*.json"))
]
MESSAGES = [case for file in VECTORS for case in file["messages"]]
REFUSED = [case for file in VECTORS for case in file["refused"]]


def union(name: str) -> Any:
    return getattr(app, name, None) or getattr(link, name)


def name_of(case: dict[str, Any]) -> str:
    message = case["message"]
    kind = message.get("type") if isinstance(message, dict) else message
    return f"{case['as']}-{kind}" + (f" ({case['why']})" if "why" in case else "")


@pytest.mark.parametrize("case", MESSAGES, ids=name_of)
def test_message_is_read_and_written_back_to_the_letter(case: dict[str, Any]) -> None:
    [message] = Codec(union(case["as"])).decode(json.dumps(case["message"]))
    assert not isinstance(message, Wrong), message
    assert json.loads(encode([message])) == [case["message"]]


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_message_of_the_wrong_shape_is_refused_alone(case: dict[str, Any]) -> None:
    good = next(c["message"] for c in MESSAGES if c["as"] == case["as"])
    first, wrong, last = Codec(union(case["as"])).decode(json.dumps([good, case["message"], good]))
    assert isinstance(wrong, Wrong)
    assert not isinstance(first, Wrong)
    assert not isinstance(last, Wrong)


def test_every_message_type_has_a_vector() -> None:
    seen = {case["message"]["type"] for case in MESSAGES}
    every = set()
    for value in [value for module in (app, channel, link, sessions) for value in vars(module).values()]:
        if (
            isinstance(value, type)
            and issubclass(value, msgspec.Struct)
            and value.__struct_config__.tag_field == "type"
        ):
            every.add(value.__struct_config__.tag)
    assert seen == every - {"Message"}


def test_response_says_error_null_on_success_and_an_absent_one_is_accepted() -> None:
    assert json.loads(encode(app.QueryResponse("r", 1)))["error"] is None
    [message] = Codec(app.PortResponse).decode('{"type":"yaar:app-query-response","requestId":"r","data":1}')
    assert message == app.QueryResponse("r", 1)
