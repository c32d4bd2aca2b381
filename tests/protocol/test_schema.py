"""The generated TypeScript is what the messages say now."""

from __future__ import annotations

from pathlib import Path

import jsonschema_rs

from jupyter_applets.protocol import schema

from .test_vectors import MESSAGES, union

GENERATED = Path(__file__).parents[2] / "js" / "src" / "protocol.gen.ts"


def test_generated_typescript_is_not_stale() -> None:
    assert GENERATED.read_text("utf-8") == schema.typescript(), "run `make protocol`"


def test_json_schema_accepts_every_golden_message() -> None:
    document = schema.json_schema()
    for case in MESSAGES:
        names = [member.__name__ for member in union(case["as"]).__args__]
        either = {**document, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
        assert jsonschema_rs.is_valid(either, case["message"]), case
