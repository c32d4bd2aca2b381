"""Calls: each gets exactly one reply, whatever happens to the applet, the view, the page, the kernel or the time."""

from __future__ import annotations

import pytest

from jupyter_applets.protocol.app import (
    AppProtocolResponse,
    CommandAnswer,
    ManifestAnswer,
)
from jupyter_applets.protocol.link import Cancel, Hello, Result, ViewClosed

from .conversation import SHEET, Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


def test_query_is_put_to_the_view_and_answered(talk: Conversation) -> None:
    call = talk.query("cells")
    request = talk.asked()[-1]
    assert (request.window_id, request.view_id, request.request.state_key) == ("sheet", "v1", "cells")
    assert request.timeout_ms == 5000
    talk.answer(request, {"A1": "1"})
    assert talk.value(call) == {"A1": "1"}


def test_command_is_put_to_the_view_and_answered(talk: Conversation) -> None:
    call = talk.command("setCells", {"cells": {"A1": "100"}})
    assert talk.asked()[-1].timeout_ms == 30_000
    talk.answer_last({"ok": True, "count": 1})
    assert talk.value(call) == {"ok": True, "count": 1}


def test_manifest_is_answered_from_the_registration(talk: Conversation) -> None:
    manifest = talk.value(talk.query("manifest"))
    assert manifest["appId"] == "sheet"
    assert set(manifest["commands"]) == {"setCells", "sort", "mail"}
    assert manifest["state"] == {"cells": {"description": "All cell values"}}


def test_manifest_of_an_applet_that_named_none_is_asked_for() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.ready(manifest=None)
    call = talk.query("manifest")
    request = talk.asked()[-1]
    talk.receive("page", AppProtocolResponse(request.request_id, "sheet", ManifestAnswer(SHEET)))
    assert talk.value(call)["name"] == "Sheet"
    assert talk.error(talk.query("nothing")).code == "UNKNOWN_STATE_KEY"


def test_seq_counts_the_requests_of_a_window(talk: Conversation) -> None:
    for _ in range(3):
        talk.query("cells")
    assert [request.seq for request in talk.asked()] == [1, 2, 3]


def test_query_times_out_after_five_seconds_and_a_late_answer_is_dropped(talk: Conversation) -> None:
    call = talk.query("cells")
    talk.wait(4.9)
    assert not talk.replies(call)
    talk.wait(0.2)
    assert talk.error(call).code == "TIMEOUT"
    talk.answer_last({})
    assert len(talk.replies(call)) == 1


def test_timeout_of_a_call_is_its_own(talk: Conversation) -> None:
    call = talk.command("sort", timeout=0.5)
    assert talk.asked()[-1].timeout_ms == 500
    talk.wait(0.6)
    assert talk.error(call).code == "TIMEOUT"


def test_command_that_ran_after_its_timeout_is_still_recorded(talk: Conversation) -> None:
    call = talk.command("setCells", {"cells": {}}, timeout=0.5)
    talk.wait(1)
    assert talk.error(call).code == "TIMEOUT"
    talk.answer_last({"ok": True})
    talk.ready(document=2)
    assert talk.commands_to("v1") == [("setCells", False), ("setCells", True)]


def test_call_before_the_view_mounts_is_not_lost() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window()
    call = talk.query("cells")
    talk.wait(1)
    talk.page()
    talk.show()
    talk.ready()
    talk.answer_last({"A1": "1"})
    assert talk.value(call) == {"A1": "1"}


def test_call_is_checked_when_the_applet_is_ready() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window()
    call = talk.query("rows")
    talk.page()
    talk.ready()
    assert talk.error(call).code == "UNKNOWN_STATE_KEY"


def test_window_that_no_page_shows_is_not_shown_after_five_seconds() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window()
    call = talk.query("cells")
    talk.wait(4.9)
    assert not talk.replies(call)
    talk.wait(0.2)
    assert talk.error(call).code == "NOT_SHOWN"


def test_applet_that_never_registers_is_not_ready_after_five_seconds() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.open_window()
    talk.show()
    call = talk.command("setCells", {"cells": {}})
    talk.wait(5.1)
    error = talk.error(call)
    assert error.code == "NOT_READY"
    assert "register" in error.message


def test_readiness_wait_is_over_once_the_applet_is_ready(talk: Conversation) -> None:
    talk.ready(document=2)
    talk.query("cells")
    assert talk.asked()[-1].request.state_key == "cells"


def test_console_is_readable_without_a_registration() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window()
    assert talk.value(talk.query("__console")) == []


def test_cancelled_call_gets_one_reply(talk: Conversation) -> None:
    call = talk.command("sort")
    talk.receive("kernel", Cancel(call))
    talk.receive("kernel", Cancel(call))
    assert talk.error(call).code == "CANCELLED"
    talk.answer_last(1)
    assert len(talk.replies(call)) == 1


def test_view_that_goes_away_ends_its_commands(talk: Conversation) -> None:
    call = talk.command("sort")
    talk.receive("page", ViewClosed("v1"))
    error = talk.error(call)
    assert error.code == "VIEW_GONE"
    assert "may or may not" in error.message


def test_page_that_is_cut_off_ends_its_calls_and_says_which_side(talk: Conversation) -> None:
    query, command = talk.query("cells"), talk.command("sort")
    talk.disconnect("page")
    assert "page's connection was cut" in talk.error(query).message
    assert talk.error(command).code == "VIEW_GONE"


def test_query_goes_to_another_view_when_its_own_goes_away(talk: Conversation) -> None:
    talk.show("v2")
    talk.ready("v2")
    call = talk.query("cells")
    talk.receive("page", ViewClosed("v1"))
    assert talk.asked()[-1].view_id == "v2"
    talk.answer_last(7)
    assert talk.value(call) == 7


def test_caller_is_told_once_that_another_view_answers(talk: Conversation) -> None:
    talk.run("sort")
    talk.show("v2")
    talk.ready("v2")
    talk.answer_last()  # the replay
    talk.receive("page", ViewClosed("v1"))
    notes = []
    for _ in range(2):
        call = talk.query("cells")
        talk.answer_last({})
        reply = talk.reply(call)
        assert isinstance(reply, Result)
        notes.append(reply.note)
    assert notes[0] is not None
    assert "Another view" in notes[0]
    assert notes[1] is None


def test_same_window_in_two_sessions_needs_a_session(talk: Conversation) -> None:
    talk.kernel("other", "nb2")
    talk.call("open_window", {"windowId": "sheet", "revision": 1, "content": {}}, kernel="other")
    talk.kernel("third", "nb3")
    error = talk.error(talk.query("cells", kernel="third"), "third")
    assert error.code == "AMBIGUOUS_WINDOW"
    assert error.names == ["nb", "nb2"]
    # one's own session is meant first
    talk.query("cells")
    assert talk.asked()[-1].window_id == "sheet"


def test_too_many_calls_at_once_are_refused() -> None:
    talk = Conversation().shown_sheet()
    calls = [talk.query("cells") for _ in range(10_001)]
    assert talk.error(calls[-1]).code == "TOO_MANY_CALLS"


def test_kernel_that_goes_away_leaves_its_commands_to_be_recorded(talk: Conversation) -> None:
    talk.command("setCells", {"cells": {}})
    talk.disconnect("kernel")
    request = talk.asked()[-1]
    talk.receive("page", AppProtocolResponse(request.request_id, "sheet", CommandAnswer({"ok": True})))
    talk.ready(document=2)
    assert talk.commands_to("v1")[-1] == ("setCells", True)


def test_deadline_of_a_call_that_waited_counts_from_its_sending() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.open_window()
    talk.show()
    talk.query("cells")
    talk.wait(3)
    talk.ready()
    assert talk.asked()[-1].timeout_ms == 5000
    call = talk.query("cells", timeout=2)
    assert talk.asked()[-1].timeout_ms == 2000
    talk.wait(2.1)
    assert talk.error(call).code == "TIMEOUT"


def test_call_waits_for_a_long_replay_until_its_own_deadline(talk: Conversation) -> None:
    talk.run("sort")
    talk.ready(document=2)
    call = talk.query("cells", timeout=60)
    talk.wait(20)
    assert not talk.replies(call)
    talk.answer_last()  # the replay
    talk.answer_last({})
    assert talk.value(call) == {}


def test_call_that_is_let_in_as_its_wait_ends_gets_its_time(talk: Conversation) -> None:
    talk.run("sort")
    talk.ready(document=2)  # a replay that is never answered: over at 30 s
    talk.wait(25)
    call = talk.command("setCells", {"cells": {}})
    talk.wait(5)
    assert not talk.replies(call)
    talk.answer_last({"ok": True})
    assert talk.value(call) == {"ok": True}


def test_one_kernels_many_calls_do_not_shut_out_another(talk: Conversation) -> None:
    for _ in range(10_000):
        talk.command("sort")
    talk.kernel("second")
    call = talk.query("cells", kernel="second")
    talk.answer_last({})
    assert isinstance(talk.reply(call, "second"), Result)


def test_peer_that_was_upgraded_is_taken_in(talk: Conversation) -> None:
    talk.receive("kernel", Hello(0, "0.0.1", "kernel", "nb", "kernel"))
    assert talk.error(talk.query("cells")).code == "PROTOCOL_MISMATCH"
    talk.receive("kernel", Hello(1, "0.1.0", "kernel", "nb", "kernel"))
    call = talk.query("cells")
    talk.answer_last({})
    assert talk.value(call) == {}


def test_manifest_that_is_known_takes_no_number(talk: Conversation) -> None:
    talk.query("manifest")
    talk.query("cells")
    assert talk.asked()[0].seq == 1
