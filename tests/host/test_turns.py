"""Turns: a prompt reaches its session's agent, the answer comes piece by piece, and there is exactly one end."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_applets.host import speaking, turns
from jupyter_applets.protocol.channel import Permit, SetState
from jupyter_applets.protocol.link import ErrorReply, Interaction, Result
from jupyter_applets.protocol.sessions import (
    AgentGone,
    AgentReady,
    AgentStatus,
    CancelMessage,
    Invoke,
    InvokeCancel,
    InvokeComplete,
    InvokeOptions,
    MessageDone,
    MessageStarted,
    MessageStatus,
    OpenChat,
    RunningTurn,
    SendMessage,
    StreamConnected,
    StreamDelta,
    StreamReady,
    ToolCalled,
    Turn,
    TurnCancel,
    TurnDelta,
    TurnWaits,
)

from .conversation import Conversation


def said(page: str = "page", *, c: Conversation) -> list[str]:
    return [m.delta for m in c.messages(StreamDelta, page) if m.id is None]


@pytest.fixture
def c() -> Conversation:
    """A kernel that answers, a page with the sheet, which may speak with the agent, and its chat."""
    c = Conversation()
    c.kernel()
    c.page()
    c.open_window(permissions={"agent": True})
    c.show()
    c.ready()
    c.agent()
    c.receive("page", OpenChat("chat"))
    return c


def send(c: Conversation, prompt: str = "How many?", peer: str = "page", **more: Any) -> Turn:
    """A person says something; gives what the agent gets."""
    before = len(c.turns())
    c.receive(peer, SendMessage(prompt, **more))
    assert len(c.turns()) == before + 1
    return c.turns()[-1]


def invoke(c: Conversation, prompt: str = "How many?", call: str = "i1", **options: Any) -> None:
    c.receive("page", Invoke(prompt, InvokeOptions(**options), id=call, window_id="sheet", by_person=True))


def complete(c: Conversation, call: str = "i1", page: str = "page") -> InvokeComplete:
    replies = [m for m in c.messages(InvokeComplete, page) if m.id == call]
    assert len(replies) == 1, replies
    return replies[0]


# ---- people


def test_a_person_is_answered_piece_by_piece(c: Conversation) -> None:
    c.receive("page", SendMessage("How many?", id="m1"))
    turn = c.turns()[-1]
    assert (turn.prompt, turn.source, turn.session_id, turn.depth) == ("How many?", "user", "nb", 0)
    assert c.reply("m1", "page").value == {"sessionId": "nb", "streamId": turn.stream_id}
    c.take(turn, "Two ", "cells.")
    c.end(turn, "Two cells.")
    started = c.messages(MessageStarted)[-1]
    assert (started.prompt, started.source, started.applet_slug, started.show_in_chat) == (
        "How many?",
        "user",
        None,
        True,
    )
    assert c.messages(StreamReady)[-1].stream_id == c.messages(StreamConnected)[-1].stream_id == turn.stream_id
    assert said(c=c) == ["Two ", "cells."]
    assert c.messages(MessageDone) == [MessageDone(turn.stream_id, length=10)]


def test_every_page_of_the_session_hears_that_a_message_began_and_no_other_does(c: Conversation) -> None:
    c.page("second")
    c.page("stranger", session="other")
    turn = send(c)
    assert [m.stream_id for m in c.messages(MessageStarted, "second")] == [turn.stream_id]
    assert not c.messages(MessageStarted, "stranger")


def test_the_text_goes_to_pages_that_show_the_chat(c: Conversation) -> None:
    c.page("second")
    turn = send(c)
    c.take(turn, "Hm.")
    assert said(c=c) == ["Hm."]
    assert said("second", c=c) == []


def test_a_page_that_knows_only_the_seed_reads_along(c: Conversation) -> None:
    c._do(c.host.connect("plain", "page", "nb", c.now))
    turn = send(c)
    c.take(turn, "Hm.")
    c.end(turn, "Hm.")
    kinds = [type(m) for m in c.sent["plain"]]
    assert kinds == [MessageStarted, StreamReady, StreamConnected, StreamDelta, MessageDone]


def test_without_an_agent_the_message_ends_with_an_error_that_says_what_to_do(c: Conversation) -> None:
    c.receive("kernel", AgentGone())
    c.receive("page", SendMessage("Anybody?", id="m1"))
    assert isinstance(c.reply("m1", "page"), Result)
    done = c.messages(MessageDone)[-1]
    assert done.code == "NO_AGENT"
    assert "@agent" in (done.error or "")


def test_an_agent_of_another_notebook_does_not_answer_but_is_named(c: Conversation) -> None:
    c.page("stranger", session="other")
    c.receive("stranger", SendMessage("Anybody?"))
    done = c.messages(MessageDone, "stranger")[-1]
    assert done.code == "NO_AGENT"
    assert "nb" in (done.error or "")


def test_chats_are_told_who_answers(c: Conversation) -> None:
    c.agent("second")
    c.receive("kernel", AgentGone())
    assert [m.agent for m in c.messages(AgentStatus)] == ["second", None]


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt_is_refused(c: Conversation, prompt: str) -> None:
    c.receive("page", SendMessage(prompt, id="m1"))
    assert c.error("m1", "page").code == "INVALID_ARGUMENTS"
    assert not c.messages(MessageStarted)


def test_a_prompt_of_a_megabyte_and_more_is_refused(c: Conversation) -> None:
    c.receive("page", SendMessage("x" * 1_000_001, id="m1"))
    assert c.error("m1", "page").code == "TOO_LARGE"


def test_an_image_must_be_one(c: Conversation) -> None:
    for wrong in ("data:text/html;base64,AAAA", "http://x/y.png", "data:image/svg+xml;base64,AAAA"):
        c.receive("page", SendMessage("Look", id=wrong, image_data=wrong))
        assert c.error(wrong, "page").code == "INVALID_ARGUMENTS"


# ---- one after the other


def test_in_a_session_one_turn_is_answered_after_the_other(c: Conversation) -> None:
    first = send(c, "one")
    c.receive("page", SendMessage("two"))
    assert len(c.turns()) == 1
    waiting = c.messages(MessageStatus)[-1]
    assert (waiting.status, waiting.message) == ("queued", "Waiting for the answer before it.")
    c.end(first, "1")
    second = c.turns()[-1]
    assert second.prompt == "two"
    assert [(item.role, item.content) for item in second.history] == [("user", "one"), ("assistant", "1")]


def test_two_sessions_are_answered_at_once(c: Conversation) -> None:
    send(c, "one")
    c.kernel("k2", session="other")
    c.agent(kernel="k2")
    c.page("p2", session="other")
    c.receive("p2", SendMessage("two"))
    assert [turn.prompt for turn in c.turns("k2")] == ["two"]


def test_the_chat_shows_prompts_with_their_answers_in_the_order_asked(c: Conversation) -> None:
    first = send(c, "one")
    c.receive("page", SendMessage("two"))
    c.end(first, "1")
    second = c.turns()[-1]
    c.end(second, "2")
    c.receive("page", OpenChat("again"))
    page = c.reply("again", "page").value
    assert [(m.index, m.content) for m in page.messages] == [(0, "one"), (1, "1"), (2, "two"), (3, "2")]


def test_too_many_waiting_turns_are_refused(c: Conversation) -> None:
    send(c)
    for n in range(turns.MAX_QUEUED):
        c.receive("page", SendMessage(f"{n}"))
    c.receive("page", SendMessage("one more", id="m1"))
    assert c.error("m1", "page").code == "TOO_MANY_CALLS"


def test_who_waits_sees_that_the_kernel_is_busy(c: Conversation) -> None:
    invoke(c)
    turn = c.turns()[-1]
    c.receive("kernel", TurnWaits(turn.stream_id, "Queued behind a running cell."))
    told = [m for m in c.messages(MessageStatus) if m.id == "i1"]
    assert [m.message for m in told] == ["Queued behind a running cell."]
    c.take(turn)
    assert [m.status for m in c.messages(MessageStatus) if m.id == "i1"] == ["queued", "running"]


# ---- pieces


def test_a_piece_that_comes_twice_is_told_once_and_after_a_gap_nothing_is(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "abc")
    c.receive("kernel", TurnDelta(turn.stream_id, "bcd", 1))
    c.receive("kernel", TurnDelta(turn.stream_id, "zz", 9))
    assert said(c=c) == ["abc", "d"]
    c.end(turn, "abcdefghizz")
    assert "".join(said(c=c)) == "abcdefghizz"


def test_only_the_agent_that_was_asked_can_answer(c: Conversation) -> None:
    c.kernel("k2")
    turn = send(c)
    c.take(turn, "mine", kernel="k2")
    c.end(turn, "mine", kernel="k2")
    assert said(c=c) == []
    assert not c.messages(MessageDone)


def test_an_agent_that_fails_ends_the_message_not_the_session(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "Half an")
    c.end(turn, "Half an", error="ValueError: no", code="AGENT_FAILED")
    assert c.messages(MessageDone)[-1] == MessageDone(turn.stream_id, "ValueError: no", "AGENT_FAILED", 7)
    again = send(c, "again")
    c.end(again, "fine")
    assert c.messages(MessageDone)[-1].error is None


def test_an_end_is_told_once(c: Conversation) -> None:
    turn = send(c)
    c.end(turn, "a")
    c.end(turn, "b")
    assert len(c.messages(MessageDone)) == 1


# ---- stopping


def test_a_person_stops_an_answer(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "Once upon")
    c.receive("page", CancelMessage(turn.stream_id, "x"))
    assert isinstance(c.reply("x", "page"), Result)
    assert c.messages(TurnCancel, "kernel") == [TurnCancel(turn.stream_id)]
    assert c.messages(MessageDone)[-1].code == "CANCELLED"
    c.receive("kernel", TurnDelta(turn.stream_id, " a time", 9))
    assert said(c=c) == ["Once upon"]


def test_stopping_what_is_not_there_is_an_error(c: Conversation) -> None:
    c.receive("page", CancelMessage("nope", "x"))
    assert c.error("x", "page").code == "STREAM_NOT_FOUND"


def test_a_waiting_turn_is_stopped_without_the_agent_hearing_of_it(c: Conversation) -> None:
    first = send(c, "one")
    c.receive("page", SendMessage("two", id="m2"))
    c.receive("page", CancelMessage(c.reply("m2", "page").value["streamId"]))
    c.end(first, "1")
    assert [turn.prompt for turn in c.turns()] == ["one"]


# ---- applets


def test_an_applet_gets_text_state_and_tool_calls(c: Conversation) -> None:
    invoke(c)
    turn = c.turns()[-1]
    assert (turn.source, turn.applet_slug, turn.window_id, turn.window_session) == ("applet", "sheet", "sheet", "nb")
    c.take(turn, "Two.")
    c.act(turn, "set_applet_state", {"windowId": "sheet", "data": {"n": 2}})
    c.end(turn, "Two.")
    reply = complete(c)
    assert reply.error is None
    assert reply.result["text"] == "Two."
    assert reply.result["state"] == {"n": 2}
    assert [call["name"] for call in reply.result["toolCalls"]] == ["set_applet_state"]
    started = c.messages(MessageStarted)[-1]
    assert (started.source, started.applet_slug, started.show_in_chat) == ("applet", "sheet", True)


def test_the_pieces_come_to_the_applet_under_its_id(c: Conversation) -> None:
    invoke(c)
    c.take(c.turns()[-1], "Two", ".")
    assert [m.delta for m in c.messages(StreamDelta) if m.id == "i1"] == ["Two", "."]


def test_without_waiting_an_applet_gets_the_ids_at_once_and_nothing_more(c: Conversation) -> None:
    invoke(c, wait_for_result=False)
    turn = c.turns()[-1]
    assert complete(c).result == {"sessionId": "nb", "streamId": turn.stream_id}
    c.take(turn, "Two.")
    c.end(turn, "Two.")
    assert complete(c)
    assert not [m for m in c.messages(StreamDelta) if m.id == "i1"]


@pytest.mark.parametrize("options", [{"session": "background"}, {"background": True}, {"show_in_chat": False}])
def test_what_is_out_of_sight_is_seen_by_no_chat_and_stays_so(c: Conversation, options: dict[str, Any]) -> None:
    invoke(c, **options)
    turn = c.turns()[-1]
    assert turn.session_id == "nb"
    c.take(turn, "Hush.")
    c.end(turn, "Hush.")
    assert complete(c).result["text"] == "Hush."
    assert said(c=c) == []
    assert c.messages(MessageStarted)[-1].show_in_chat is False
    c.receive("page", OpenChat("again"))
    assert c.reply("again", "page").value.messages == []


def test_the_seeds_flat_background_is_understood(c: Conversation) -> None:
    c.receive("page", Invoke("psst", background=True, id="i1", window_id="sheet"))
    assert c.turns()[-1].hidden


def test_a_new_session_is_answered_by_the_agent_of_the_notebook(c: Conversation) -> None:
    invoke(c, session="new")
    turn = c.turns()[-1]
    assert turn.session_id.startswith("s-")
    assert turn.history == []
    assert not c.messages(MessageStarted)
    c.end(turn, "fresh")
    assert complete(c).result["text"] == "fresh"


def test_a_known_other_session_is_answered_there(c: Conversation) -> None:
    c.kernel("k2", session="other")
    c.agent(kernel="k2")
    invoke(c, session="other")
    turn = c.turns("k2")[-1]
    c.end(turn, "from afar", kernel="k2")
    assert complete(c).result["text"] == "from afar"
    assert not c.messages(MessageStarted)


def test_a_session_that_is_not_there_is_an_error(c: Conversation) -> None:
    invoke(c, session="nowhere")
    assert complete(c).code == "SESSION_NOT_FOUND"


def test_an_applet_that_stops_its_call_gets_one_reply(c: Conversation) -> None:
    invoke(c)
    c.receive("page", InvokeCancel("i1"))
    c.receive("page", InvokeCancel("i1"))
    assert complete(c).code == "CANCELLED"
    assert len(c.messages(TurnCancel, "kernel")) == 1


def test_a_call_that_takes_too_long_is_stopped(c: Conversation) -> None:
    invoke(c, timeout=2_000)
    c.wait(1.9)
    assert not c.messages(InvokeComplete)
    c.wait(0.2)
    assert complete(c).code == "TIMEOUT"
    assert len(c.messages(TurnCancel, "kernel")) == 1


@pytest.mark.parametrize("timeout", [0, -1, 1e12])
def test_a_timeout_must_be_one(c: Conversation, timeout: float) -> None:
    invoke(c, timeout=timeout)
    assert complete(c).code == "INVALID_ARGUMENTS"


def test_state_that_was_expected_and_not_set_is_an_error(c: Conversation) -> None:
    invoke(c, expect_state=["n", "m"])
    turn = c.turns()[-1]
    c.act(turn, "set_applet_state", {"windowId": "sheet", "data": {"n": 2}})
    c.end(turn, "done")
    reply = complete(c)
    assert reply.code == "STATE_MISSING"
    assert "'m'" in (reply.error or "")


def test_what_an_applet_sets_because_of_a_command_counts_as_the_agents_doing(c: Conversation) -> None:
    invoke(c)
    turn = c.turns()[-1]
    c.receive("page", SetState({"typed": "by the person"}, "sheet", "v1"))
    call = c.act(turn, "app_command", {"windowId": "sheet", "command": "sort", "params": {}})
    c.receive("page", SetState({"sorted": True}, "sheet", "v1"))
    c.answer_last("ok")
    assert c.value(call) == "ok"
    c.end(turn, "done")
    assert complete(c).result["state"] == {"sorted": True}


def test_an_applet_without_the_permission_is_told_that_a_person_is_to_be_asked() -> None:
    c = Conversation().shown_sheet()
    c.agent()
    invoke(c)
    assert complete(c).code == "PERMISSION_NEEDED"
    c.receive("page", Permit("sheet", "agent", False))
    invoke(c, call="i2")
    assert complete(c, "i2").code == "PERMISSION_DENIED"
    c.receive("page", Permit("sheet", "agent", True))
    invoke(c, call="i3")
    assert c.turns()[-1].prompt == "How many?"


def test_a_person_may_agree_once() -> None:
    c = Conversation().shown_sheet()
    c.agent()
    c.receive("page", Invoke("hi", id="i1", window_id="sheet", consent=True))
    assert len(c.turns()) == 1
    invoke(c, call="i2")
    assert complete(c, "i2").code == "PERMISSION_NEEDED"


def test_content_that_was_replaced_has_no_more_to_say(c: Conversation) -> None:
    c.open_window(revision=5, permissions={"agent": True})
    c.receive("page", Invoke("hi", id="i1", window_id="sheet", revision=1))
    assert complete(c).code == "VIEW_GONE"


def test_invocations_are_limited_in_number(c: Conversation) -> None:
    for n in range(speaking.PER_MINUTE):
        invoke(c, call=f"n{n}")
        c.end(c.turns()[-1], "ok")
    invoke(c, call="over")
    assert complete(c, "over").code == "TOO_MANY_CALLS"
    c.wait(61)
    invoke(c, call="later")
    assert c.turns()[-1].prompt == "How many?"
    assert not [m for m in c.messages(InvokeComplete) if m.id == "later"]


def test_few_invocations_wait_at_once(c: Conversation) -> None:
    for n in range(speaking.AT_ONCE):
        invoke(c, call=f"n{n}")
    invoke(c, call="over")
    assert complete(c, "over").code == "TOO_MANY_CALLS"


def test_an_applet_that_asks_in_the_middle_of_a_command_is_answered_before_it(c: Conversation) -> None:
    outer = send(c)
    c.take(outer)
    c.act(outer, "app_command", {"windowId": "sheet", "command": "sort", "params": {}})
    c.receive("page", Invoke("how?", id="i1", window_id="sheet"))
    inner = c.turns()[-1]
    assert (inner.prompt, inner.depth) == ("how?", 1)
    c.end(inner, "so")
    assert complete(c).result["text"] == "so"


def test_a_circle_of_agents_and_applets_is_cut(c: Conversation) -> None:
    depths = []
    c.receive("page", SendMessage("go"))
    for n in range(speaking.MAX_DEPTH + 1):
        turn = c.turns()[-1]
        depths.append(turn.depth)
        c.act(turn, "set_applet_state", {"windowId": "sheet", "data": {"n": n}})
        c.end(turn, "ok")
        c.receive("page", Invoke("and?", id=f"i{n}", window_id="sheet"))
    assert depths == [0, 1, 2, 3, 4]
    assert complete(c, f"i{speaking.MAX_DEPTH}").code == "TOO_DEEP"


def test_a_person_who_presses_a_button_is_no_circle(c: Conversation) -> None:
    for n in range(speaking.MAX_DEPTH + 3):
        invoke(c, call=f"i{n}")
        turn = c.turns()[-1]
        assert turn.depth == 0
        c.act(turn, "set_applet_state", {"windowId": "sheet", "data": {"n": n}})
        c.end(turn, "ok")


def test_a_plain_client_invokes_without_id_and_window(c: Conversation) -> None:
    c._do(c.host.connect("plain", "page", "nb", c.now))
    c.receive("plain", Invoke("Analyze this"))
    turn = c.turns()[-1]
    c.take(turn, "Well.")
    c.end(turn, "Well.")
    assert [m.delta for m in c.messages(StreamDelta, "plain")] == ["Well."]
    assert c.messages(InvokeComplete, "plain")[-1].result["text"] == "Well."


# ---- interactions


def test_interactions_are_handed_over_with_the_next_turn(c: Conversation) -> None:
    c.receive("page", Interaction("sheet", "clicked save"))
    c.receive("page", Interaction("sheet", "clicked undo"))
    turn = send(c)
    assert [item.content for item in turn.interactions] == ["clicked save", "clicked undo"]
    c.end(turn, "ok")
    assert send(c, "again").interactions == []


def test_an_agent_that_asked_for_it_is_woken_by_an_interaction(c: Conversation) -> None:
    c.agent(wake_on_interaction=True)
    c.receive("page", Interaction("sheet", "clicked save"))
    turn = c.turns()[-1]
    assert (turn.prompt, turn.source, turn.applet_slug) == ("clicked save", "applet", "sheet")


def test_a_flood_of_interactions_wakes_the_agent_only_so_often(c: Conversation) -> None:
    c.agent(wake_on_interaction=True)
    for n in range(100):
        c.receive("page", Interaction("sheet", f"{n}"))
        for turn in c.turns()[-1:]:
            c.end(turn, "ok")
    assert len(c.turns()) == speaking.PER_MINUTE


# ---- tools


def test_tool_calls_are_shown_while_they_run_and_when_they_have(c: Conversation) -> None:
    turn = send(c)
    c.act(turn, "list_windows", {})
    calls = [m.call for m in c.messages(ToolCalled)]
    assert [(call.name, call.done) for call in calls] == [("list_windows", False), ("list_windows", True)]
    assert calls[1].result[0]["windowId"] == "sheet"


def test_a_tool_that_fails_is_shown_with_its_error(c: Conversation) -> None:
    turn = send(c)
    c.act(turn, "app_query", {"windowId": "nope", "stateKey": "x"})
    assert "nope" in (c.messages(ToolCalled)[-1].call.error or "")


def test_what_our_own_widgets_call_is_no_tool_call(c: Conversation) -> None:
    turn = send(c)
    c.act(turn, "push_state", {"windowId": "sheet", "data": {"n": 1}})
    assert not c.messages(ToolCalled)


def test_a_content_that_an_agent_sets_is_told_to_readers_of_the_stream(c: Conversation) -> None:
    turn = send(c)
    c.act(turn, "set_applet_content", {"html": "<b>new</b>", "title": "New"})
    events = c.host.sessions.turn(turn.stream_id).events
    finished = next(event for event in events if event.name == "tool.execution_complete")
    assert finished.data["_applet"]["html"] == "<b>new</b>"
    assert next(event for event in events if event.name == "applet.update").data["title"] == "New"


def test_a_huge_argument_is_kept_in_part(c: Conversation) -> None:
    turn = send(c)
    c.act(turn, "set_applet_content", {"html": "x" * 100_000})
    assert c.messages(ToolCalled)[0].call.arguments["bytes"] > 100_000


def test_a_kernel_waits_for_an_answer(c: Conversation) -> None:
    c.kernel("k2")
    call = c.call("send_message", {"prompt": "hello", "wait": True}, kernel="k2")
    turn = c.turns()[-1]
    assert turn.source == "user"
    c.end(turn, "hi")
    assert c.reply(call, "k2").value["text"] == "hi"


def test_an_agent_speaks_with_an_agent_under_its_name(c: Conversation) -> None:
    c.kernel("k2", session="other")
    c.agent("critic", kernel="k2")
    turn = send(c)
    call = c.act(turn, "send_message", {"prompt": "is it good?", "session": "other", "wait": True})
    asked = c.turns("k2")[-1]
    assert (asked.source, asked.applet_slug, asked.depth) == ("agent", "analyst", 1)
    c.end(asked, "no", kernel="k2")
    assert c.value(call)["text"] == "no"


def test_messages_can_be_read_back(c: Conversation) -> None:
    c.end(send(c, "one"), "1")
    found = c.value(c.call("get_messages", {}))
    assert [(m["role"], m["source"], m["content"]) for m in found] == [
        ("user", "user", "one"),
        ("assistant", "assistant", "1"),
    ]


# ---- cuts


def test_a_kernel_that_does_not_come_back_ends_its_turn(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "Half")
    c.disconnect("kernel")
    c.wait(turns.LOST_AFTER - 0.1)
    assert not c.messages(MessageDone)
    c.wait(0.2)
    assert c.messages(MessageDone)[-1].code == "AGENT_LOST"
    c.kernel()
    c.agent()
    c.end(send(c, "again"), "fine")
    assert c.messages(MessageDone)[-1].error is None


def test_a_kernel_that_comes_back_goes_on_where_it_was(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "Half")
    c.disconnect("kernel")
    c._do(c.host.connect("again", "kernel", "nb", c.now))
    c.hello("again", "kernel", id="kernel")
    c.receive("again", AgentReady("analyst", running=[RunningTurn(turn, "Half of it")]))
    c.receive("again", TurnDelta(turn.stream_id, ", all", 10))
    c.end(turn, "Half of it, all", kernel="again")
    assert "".join(said(c=c)) == "Half of it, all"
    assert c.messages(MessageDone)[-1].error is None
    assert len(c.turns("again")) == 0


def test_a_kernel_that_began_anew_has_lost_its_turn(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "Half")
    c.disconnect("kernel")
    c.kernel()
    c.agent()
    assert c.messages(MessageDone)[-1].code == "AGENT_LOST"


def test_a_turn_that_never_reached_its_kernel_is_sent_again(c: Conversation) -> None:
    send(c)
    c.disconnect("kernel")
    c.kernel()
    c.agent()
    assert [turn.prompt for turn in c.turns()] == ["How many?", "How many?"]
    c.end(c.turns()[-1], "2")
    assert c.messages(MessageDone)[-1].error is None


def test_another_host_takes_up_a_turn_from_the_kernel(c: Conversation) -> None:
    turn = send(c)
    other = Conversation()
    other.page()
    other.receive("page", OpenChat("chat"))
    other.kernel()
    other.receive("kernel", AgentReady("analyst", running=[RunningTurn(turn, "Half")]))
    started = other.messages(MessageStarted)[-1]
    assert (started.prompt, started.stream_id) == ("How many?", turn.stream_id)
    other.end(turn, "Half and more")
    assert "".join(said(c=other)) == "Half and more"
    assert len(other.messages(MessageDone)) == 1


def test_a_turn_that_was_stopped_while_its_kernel_was_away_is_stopped_when_it_is_back(c: Conversation) -> None:
    turn = send(c)
    c.take(turn)
    c.disconnect("kernel")
    c.receive("page", CancelMessage(turn.stream_id))
    c.kernel()
    c.receive("kernel", AgentReady("analyst", running=[RunningTurn(turn, "Half")]))
    assert c.messages(TurnCancel, "kernel")[-1].stream_id == turn.stream_id


def test_a_page_that_goes_leaves_its_turn_to_go_on(c: Conversation) -> None:
    invoke(c)
    turn = c.turns()[-1]
    c.disconnect("page")
    c.page("second")
    c.receive("second", OpenChat("chat"))
    c.end(turn, "still here")
    page = c.reply("chat", "second").value
    assert page.messages[-1].status == "queued"
    assert said("second", c=c) == ["still here"]


def test_a_chat_that_opens_in_the_middle_gets_what_there_is(c: Conversation) -> None:
    turn = send(c)
    c.take(turn, "Half")
    c.page("second")
    c.receive("second", OpenChat("chat"))
    last = c.reply("chat", "second").value.messages[-1]
    assert (last.role, last.content, last.status) == ("assistant", "Half", "running")
    c.receive("kernel", TurnDelta(turn.stream_id, " more", 4))
    assert said("second", c=c) == [" more"]


def test_bad_input_is_told(c: Conversation) -> None:
    call = c.call("send_message", {"prompt": "x", "session": "nowhere"})
    assert isinstance(c.reply(call), ErrorReply)
    assert c.error(call).code == "SESSION_NOT_FOUND"
