"""What bad input gets: a clear error with the valid names, before the applet sees it, and nobody else notices."""

from __future__ import annotations

import pytest

from jupyter_applets.errors import InvalidMessage
from jupyter_applets.host.checks import UnusableSchema, Validators
from jupyter_applets.protocol.app import (
    AppManifest,
    AppProtocolResponse,
    CommandDescriptor,
    HydrateAnswer,
    QueryAnswer,
)
from jupyter_applets.protocol.frames import Wrong
from jupyter_applets.protocol.link import ErrorReply

from .conversation import Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


def test_unknown_window_lists_the_open_ones(talk: Conversation) -> None:
    error = talk.error(talk.query("cells", window="shett"))
    assert error.code == "WINDOW_NOT_FOUND"
    assert error.names == ["sheet"]
    assert "sheet" in error.message


def test_window_of_another_renderer_says_so(talk: Conversation) -> None:
    talk.call("open_window", {"windowId": "tree", "revision": 1, "content": {}, "renderer": "tree"})
    error = talk.error(talk.query("cells", window="tree"))
    assert error.code == "NOT_AN_APPLET"
    assert "tree" in error.message


def test_applet_that_did_not_opt_in_says_how_to_at_once(talk: Conversation) -> None:
    talk.open_window("plain", appProtocol=False)
    error = talk.error(talk.query("cells", window="plain"))
    assert error.code == "NOT_OPTED_IN"
    assert '"appProtocol": true' in error.message


def test_unknown_state_key_lists_the_known_ones(talk: Conversation) -> None:
    error = talk.error(talk.query("rows"))
    assert error.code == "UNKNOWN_STATE_KEY"
    assert error.names == ["manifest", "cells"]
    assert not talk.asked()


def test_unknown_command_lists_the_known_ones(talk: Conversation) -> None:
    error = talk.error(talk.command("setCell"))
    assert error.code == "UNKNOWN_COMMAND"
    assert error.names == ["setCells", "sort", "mail"]


def test_state_key_used_as_a_command_is_named_as_such(talk: Conversation) -> None:
    assert "'cells' is a state key" in talk.error(talk.command("cells")).message
    assert "'setCells' is a command" in talk.error(talk.query("setCells")).message


@pytest.mark.parametrize("params", [{}, {"cells": {"A1": 1}}, {"cells": []}, [], "x"])
def test_params_that_break_the_schema_never_reach_the_applet(talk: Conversation, params: object) -> None:
    call = talk.call("app_command", {"windowId": "sheet", "command": "setCells", "params": params})
    error = talk.error(call)
    assert error.code == "INVALID_PARAMS"
    assert "setCells" in error.message
    assert not talk.asked()


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"type": "nonsense"},
        {"description": "x" * 70_000},
        {"allOf": [{"$ref": "#/$defs/a"}] * 21, "$defs": {"a": True}},
    ],
)
def test_schema_that_cannot_be_used_is_noted_once_and_the_command_runs(talk: Conversation, schema: dict) -> None:
    talk.ready(document=2, manifest=AppManifest("x", "x", {}, {"go": CommandDescriptor("", schema)}))
    for _ in range(2):
        talk.run("go")
    notes = [line for line in talk.value(talk.query("__console")) if "is not used" in line["args"][0]]
    assert len(notes) == 1


def test_handler_that_throws_is_an_error_with_its_message(talk: Conversation) -> None:
    call = talk.command("sort")
    talk.answer_last(error="no rows to sort")
    error = talk.error(call)
    assert (error.code, error.message) == ("HANDLER_FAILED", "no rows to sort")


def test_code_of_an_error_from_the_page_is_kept(talk: Conversation) -> None:
    call = talk.query("cells")
    request = talk.asked()[-1]
    answer = QueryAnswer(None, "The result is 52 MB", "TOO_LARGE")
    talk.receive("page", AppProtocolResponse(request.request_id, "sheet", answer))
    assert talk.error(call).code == "TOO_LARGE"


def test_answer_from_a_peer_that_was_not_asked_is_dropped(talk: Conversation) -> None:
    talk.page("other")
    call = talk.query("cells")
    talk.answer(talk.asked()[-1], "forged", page="other")
    assert not talk.replies(call)
    talk.answer_last("real")
    assert talk.value(call) == "real"


def test_message_of_the_wrong_shape_is_answered_and_the_connection_goes_on(talk: Conversation) -> None:
    talk.receive("page", Wrong(InvalidMessage("A message was refused"), None))
    assert isinstance(talk.sent["page"][-1], ErrorReply)
    call = talk.query("cells")
    talk.answer_last(1)
    assert talk.value(call) == 1


def test_unknown_tool_lists_the_tools(talk: Conversation) -> None:
    error = talk.error(talk.call("app_qeury", {}))
    assert error.code == "UNKNOWN_TOOL"
    assert "app_query" in error.names


def test_arguments_of_the_wrong_shape_name_the_argument(talk: Conversation) -> None:
    error = talk.error(talk.call("app_query", {"windowId": 3, "stateKey": "x"}))
    assert error.code == "INVALID_ARGUMENTS"
    assert "windowId" in error.message


def test_answer_of_another_kind_is_an_error_at_once(talk: Conversation) -> None:
    call = talk.query("cells")
    talk.receive("page", AppProtocolResponse(talk.asked()[-1].request_id, "sheet", HydrateAnswer()))
    assert talk.error(call).code == "INVALID_MESSAGE"


def test_answer_that_cannot_be_read_is_an_error_at_once(talk: Conversation) -> None:
    call = talk.query("cells")
    wrong = Wrong(InvalidMessage("A message was refused"), None, talk.asked()[-1].request_id)
    talk.page("other")
    talk.receive("other", wrong)
    assert not talk.replies(call), "only the page that was asked may spoil its answer"
    talk.receive("page", wrong)
    assert talk.error(call).code == "INVALID_MESSAGE"


def test_applet_does_not_choose_any_error_class_it_likes(talk: Conversation) -> None:
    call = talk.query("cells")
    answer = QueryAnswer(None, "forged", "FORBIDDEN")
    talk.receive("page", AppProtocolResponse(talk.asked()[-1].request_id, "sheet", answer))
    assert talk.error(call).code == "HANDLER_FAILED"


def test_params_null_are_no_params(talk: Conversation) -> None:
    talk.ready(document=2, manifest=AppManifest("x", "x", {}, {"go": CommandDescriptor("", {"type": "object"})}))
    call = talk.call("app_command", {"windowId": "sheet", "command": "go", "params": None})
    talk.answer_last(1)
    assert talk.value(call) == 1


def test_params_nested_too_deeply_are_refused_and_others_do_not_notice() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.open_window()
    talk.show()
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"cells": deep}
    bad, good = talk.command("setCells", deep), talk.query("cells")
    talk.ready()
    assert talk.error(bad).code == "INVALID_PARAMS"
    talk.answer_last({})
    assert talk.value(good) == {}


def test_refusal_of_large_params_is_short(talk: Conversation) -> None:
    assert len(talk.error(talk.command("setCells", {"cells": "x" * 1_000_000})).message) < 1_000


def test_schema_that_cannot_be_used_keeps_nothing_of_the_calls_it_was_asked_for() -> None:
    validators = Validators()
    for _ in range(3):
        with pytest.raises(UnusableSchema) as caught:
            validators.check("go", {"type": "nonsense"}, {"large": "params"})
    depth, traceback = 0, caught.value.__traceback__
    while traceback is not None:
        depth, traceback = depth + 1, traceback.tb_next
    assert depth < 5
