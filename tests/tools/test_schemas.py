"""The tools as LLMs are given them, and what they say to arguments that are none."""

from __future__ import annotations

import inspect
from typing import Any

import jsonschema_rs
import pytest

from jupyter_applets import tools
from jupyter_applets.errors import InvalidArguments
from jupyter_applets.protocol.tools import DEFINITIONS, for_agents, parameters
from tests.host.conversation import Conversation

ARGUMENTS = {
    "set_applet_content": ("html", "js?", "css?", "title?", "windowId?", "permissions?", "session?"),
    "get_applet_state": ("windowId?", "key?", "selector?", "format?", "session?"),
    "set_applet_state": ("data", "windowId?", "session?"),
    "save_applet": ("slug", "name?", "description?", "windowId?", "permissions?", "session?"),
    "load_applet": ("slug", "windowId?", "session?"),
    "list_applets": (),
    "delete_applet": ("slug",),
    "app_query": ("windowId", "stateKey", "session?"),
    "app_command": ("windowId", "command", "params?", "session?"),
    "list_windows": (),
    "close_window": ("windowId", "session?"),
    "get_applet_logs": ("windowId?", "session?"),
    "read_file": ("path",),
    "write_file": ("path", "content", "encoding?", "ifMatch?"),
    "list_files": ("path?",),
    "send_message": ("prompt", "wait?", "session?"),
    "get_messages": ("limit?", "session?"),
    "list_sessions": (),
}
"""Every tool for agents: its arguments in order, with those that may be left out."""

EXAMPLES: dict[str, dict[str, Any]] = {
    "set_applet_content": {"html": "<p>", "permissions": {"files": "read", "network": ["https://a.example"]}},
    "get_applet_state": {"selector": "body", "format": "text"},
    "set_applet_state": {"data": {"progress": 50}},
    "save_applet": {"slug": "notes"},
    "load_applet": {"slug": "notes"},
    "list_applets": {},
    "delete_applet": {"slug": "notes"},
    "app_query": {"windowId": "w", "stateKey": "manifest"},
    "app_command": {"windowId": "w", "command": "add", "params": {"n": 1}},
    "list_windows": {},
    "close_window": {"windowId": "w"},
    "get_applet_logs": {},
    "read_file": {"path": "a.txt"},
    "write_file": {"path": "a.txt", "content": "x", "encoding": "base64"},
    "list_files": {},
    "send_message": {"prompt": "hello", "wait": True},
    "get_messages": {"limit": 5},
    "list_sessions": {},
}


def schema_of(name: str) -> dict[str, Any]:
    return parameters(DEFINITIONS[name])


def test_tools_for_agents_are_these() -> None:
    assert sorted(d.name for d in for_agents()) == sorted(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_these_in_this_order(name: str) -> None:
    schema = schema_of(name)
    required = schema["required"]
    assert tuple(p if p in required else f"{p}?" for p in schema["properties"]) == ARGUMENTS[name]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_schema_is_valid_whole_and_closed(name: str) -> None:
    schema = schema_of(name)
    jsonschema_rs.meta.validate(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "$ref" not in str(schema)
    assert "null" not in str(schema)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_and_every_tool_says_what_it_is(name: str) -> None:
    assert len(DEFINITIONS[name].description) > 40
    for argument, schema in schema_of(name)["properties"].items():
        assert len(schema.get("description", "")) > 15, argument


@pytest.mark.parametrize("name", ARGUMENTS)
def test_example_fits_and_what_is_unknown_does_not(name: str) -> None:
    validator = jsonschema_rs.validator_for(schema_of(name))
    assert validator.is_valid(EXAMPLES[name])
    assert not validator.is_valid({**EXAMPLES[name], "nonsense": 1})
    for argument in schema_of(name)["required"]:
        assert not validator.is_valid({k: v for k, v in EXAMPLES[name].items() if k != argument})


def test_openai_gets_functions() -> None:
    found = tools.schemas("openai")
    assert {entry["type"] for entry in found} == {"function"}
    assert [entry["function"]["name"] for entry in found] == [d.name for d in for_agents()]
    assert all(sorted(entry["function"]) == ["description", "name", "parameters"] for entry in found)


def test_anthropic_gets_input_schemas() -> None:
    found = tools.schemas("anthropic")
    assert [entry["name"] for entry in found] == [d.name for d in for_agents()]
    assert all(sorted(entry) == ["description", "input_schema", "name"] for entry in found)
    assert found[0]["input_schema"] == tools.schemas("openai")[0]["function"]["parameters"]


def test_other_styles_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidArguments, match="'openai' or 'anthropic'"):
        tools.schemas("gemini")  # type: ignore[arg-type]


def test_schemas_are_the_callers_own_to_change() -> None:
    first = tools.schemas()
    first[0]["function"]["parameters"]["properties"].clear()
    assert tools.schemas()[0]["function"]["parameters"]["properties"]


def test_every_definition_has_a_function_and_every_function_a_definition() -> None:
    assert sorted(tools.TOOLS) == sorted(DEFINITIONS)


def test_agent_that_has_never_seen_this_is_told_where_to_begin_and_given_an_example() -> None:
    text = DEFINITIONS["set_applet_content"].description
    for word in ("setAppletState", "onStateUpdate", "applet.app.register", "readFile", "get_applet_logs", "Example"):
        assert word in text
    assert "Call this first" in DEFINITIONS["list_windows"].description


def test_call_is_a_coroutine_function_of_name_and_arguments() -> None:
    assert inspect.iscoroutinefunction(tools.call)
    assert list(inspect.signature(tools.call).parameters) == ["name", "arguments", "timeout"]


# ---- what a host says to arguments that are none


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_unknown_argument_is_refused_by_name(talk: Conversation, name: str) -> None:
    error = talk.error(talk.call(name, {**EXAMPLES.get(name, {}), "nonsense": 1}))
    assert (error.code, "'nonsense'" in error.message) == ("INVALID_ARGUMENTS", True)


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if schema_of(name)["required"]])
def test_missing_argument_is_named(talk: Conversation, name: str) -> None:
    error = talk.error(talk.call(name, {}))
    assert error.code == "INVALID_ARGUMENTS"
    assert schema_of(name)["required"][0] in error.message
    assert name in error.message


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if ARGUMENTS[name]])
@pytest.mark.parametrize("value", [[], -3, True])
def test_argument_of_the_wrong_kind_is_named(talk: Conversation, name: str, value: Any) -> None:
    argument = ARGUMENTS[name][0].rstrip("?")
    error = talk.error(talk.call(name, {**EXAMPLES[name], argument: value}))
    assert (error.code, f"`$.{argument}`" in error.message) == ("INVALID_ARGUMENTS", True)


def test_snake_case_is_for_python_and_the_error_says_what_there_is(talk: Conversation) -> None:
    error = talk.error(talk.call("app_query", {"window_id": "sheet", "stateKey": "cells"}))
    assert "windowId, stateKey" in error.message


def test_unknown_tool_lists_those_that_there_are(talk: Conversation) -> None:
    error = talk.error(talk.call("fly", {}))
    assert error.code == "UNKNOWN_TOOL"
    assert "set_applet_content" in error.names
