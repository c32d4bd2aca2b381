"""State both ways: what anyone sets reaches all others, one update at a time, and all end with what the host holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from jupyter_applets.protocol.channel import MAX_STATE_BYTES, RESERVED, SetState, StateSeen, StateUpdate
from jupyter_applets.protocol.link import ErrorReply, StateChanged, ViewState, WindowContent

from .conversation import SHEET, Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation().shown_sheet()


def push(talk: Conversation, data: dict[str, Any], **options: Any) -> str:
    return talk.call("set_applet_state", {"windowId": "sheet", "data": data}, **options)


def set_state(talk: Conversation, data: dict[str, Any], view: str = "v1", page: str = "page", **options: Any) -> None:
    talk.receive(page, SetState(data, "sheet", view, **options))


def seen(talk: Conversation, view: str = "v1", page: str = "page", rev: int | None = None) -> None:
    """The applet has taken the last update that its view was sent."""
    last = rev if rev is not None else updates(talk, view, page)[-1].rev
    talk.receive(page, StateSeen("sheet", view, last))


def updates(talk: Conversation, view: str = "v1", page: str = "page") -> list[StateUpdate]:
    return [m for m in talk.messages(StateUpdate, page) if m.view_id == view]


def told(talk: Conversation, kernel: str = "kernel") -> list[dict[str, Any]]:
    return [m.data for m in talk.messages(StateChanged, kernel)]


def state(talk: Conversation) -> Any:
    return talk.value(talk.call("get_applet_state", {"windowId": "sheet"}))["state"]


def plain(talk: Conversation, name: str = "plain", session: str = "nb") -> str:
    """A client that knows the seed alone: it says no hello."""
    talk._do(talk.host.connect(name, "page", session, talk.now))
    return name


# ---- who is told


def test_what_a_view_sets_reaches_kernels_and_other_views_but_not_itself(talk: Conversation) -> None:
    talk.kernel("second")
    talk.show("v2")
    set_state(talk, {"n": 1})
    assert told(talk) == told(talk, "second") == [{"n": 1}]
    assert [u.data for u in updates(talk, "v2")] == [{"n": 1}]
    assert updates(talk, "v1") == []
    assert state(talk) == {"n": 1}


def test_what_an_agent_pushes_reaches_every_view_and_every_kernel_also_its_own(talk: Conversation) -> None:
    """A widget in the caller's kernel may show the window: its mirror has to know."""
    talk.kernel("second")
    talk.show("v2")
    push(talk, {"progress": 50})
    assert [u.data for u in updates(talk, "v1")] == [u.data for u in updates(talk, "v2")] == [{"progress": 50}]
    assert told(talk) == told(talk, "second") == [{"progress": 50}]


def test_what_a_widget_pushes_is_not_told_to_its_own_kernel(talk: Conversation) -> None:
    talk.kernel("second")
    talk.value(talk.call("push_state", {"windowId": "sheet", "data": {"n": 1}}))
    assert (told(talk), told(talk, "second")) == ([], [{"n": 1}])


def test_other_sessions_hear_nothing(talk: Conversation) -> None:
    talk.kernel("other", session="elsewhere")
    talk.page("far", session="elsewhere")
    push(talk, {"n": 1})
    assert told(talk, "other") == []
    assert talk.messages(StateUpdate, "far") == []


def test_keys_are_merged_and_what_did_not_change_is_not_told(talk: Conversation) -> None:
    push(talk, {"a": 1, "b": [1]})
    push(talk, {"a": 1, "b": [1]})
    push(talk, {"a": 1, "c": None})
    assert told(talk) == [{"a": 1, "b": [1]}, {"c": None}]
    assert state(talk) == {"a": 1, "b": [1], "c": None}


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), (1, 1.0), ([1], [True]), ({"a": 0}, {"a": False})])
def test_values_that_python_holds_for_equal_are_still_different_as_json(
    talk: Conversation, one: Any, other: Any
) -> None:
    push(talk, {"n": one})
    push(talk, {"n": other})
    assert msgspec.json.encode(told(talk)[-1]) == msgspec.json.encode({"n": other})


# ---- one update at a time


def test_one_update_is_under_way_and_the_rest_comes_as_one(talk: Conversation) -> None:
    for n in range(5):
        push(talk, {"n": n, f"k{n}": n})
    assert [u.data for u in updates(talk)] == [{"n": 0, "k0": 0}]
    seen(talk)
    assert updates(talk)[-1].data == {"n": 4, "k1": 1, "k2": 2, "k3": 3, "k4": 4}
    seen(talk)
    assert len(updates(talk)) == 2


def test_twenty_thousand_pushes_cost_a_page_that_does_not_answer_one_message(talk: Conversation) -> None:
    for n in range(20_000):
        push(talk, {"n": n})
    assert len(updates(talk)) == 1
    seen(talk)
    assert updates(talk)[-1].data == {"n": 19_999}
    assert state(talk) == {"n": 19_999}


def test_slow_view_does_not_hold_up_another(talk: Conversation) -> None:
    talk.show("v2")
    push(talk, {"n": 1})
    seen(talk, "v2")
    push(talk, {"n": 2})
    assert [u.data for u in updates(talk, "v2")] == [{"n": 1}, {"n": 2}]
    assert [u.data for u in updates(talk, "v1")] == [{"n": 1}]


@pytest.mark.parametrize("rev", [-1, 0, 10**12])
def test_number_that_was_never_sent_is_taken_for_what_it_can_mean(talk: Conversation, rev: int) -> None:
    push(talk, {"n": 1})
    push(talk, {"n": 2})
    talk.receive("page", StateSeen("sheet", "v1", rev))
    talk.receive("page", StateSeen("sheet", "v1", updates(talk)[-1].rev))
    assert updates(talk)[-1].data == {"n": 2}


def test_another_page_cannot_say_what_a_view_has_seen(talk: Conversation) -> None:
    talk.page("other")
    push(talk, {"n": 1})
    push(talk, {"n": 2})
    talk.receive("other", StateSeen("sheet", "v1", updates(talk)[-1].rev))
    assert len(updates(talk)) == 1


def test_page_that_speaks_for_a_view_of_another_page_does_not_keep_it_from_being_told(talk: Conversation) -> None:
    talk.page("other")
    set_state(talk, {"n": 1}, "v1", page="other")
    assert [u.data for u in updates(talk)] == [{"n": 1}]


# ---- changes that cross


def test_changes_that_cross_end_with_what_came_last_to_the_host(talk: Conversation) -> None:
    push(talk, {"n": "kernel"})
    set_state(talk, {"n": "view"})  # set before the update arrived, which now overwrites it in the page
    seen(talk)
    assert updates(talk)[-1].data == {"n": "view"}
    assert state(talk) == {"n": "view"}


def test_change_that_crosses_with_an_equal_value_is_still_told(talk: Conversation) -> None:
    push(talk, {"n": 1})
    set_state(talk, {"n": 2})
    set_state(talk, {"n": 1})
    seen(talk)
    assert updates(talk)[-1].data == {"n": 1}


def test_what_a_view_sets_after_it_saw_an_update_is_not_sent_back(talk: Conversation) -> None:
    push(talk, {"n": 1})
    seen(talk)
    set_state(talk, {"n": 2})
    assert len(updates(talk)) == 1


def test_decision_of_a_person_carries_no_state_that_what_is_being_set_could_cross(talk: Conversation) -> None:
    set_state(talk, {"n": 1})
    talk.call("revoke_permission", {"windowId": "sheet"})
    last = talk.messages(WindowContent)[-1]
    assert (last.view_id, last.state) == ("v1", {})


# ---- whose state it is


def test_another_applet_begins_without_the_state_of_the_one_before(talk: Conversation) -> None:
    set_state(talk, {"n": 1})
    talk.open_window(revision=2, html="<p>new")
    assert talk.messages(WindowContent)[-1].state == {}
    assert state(talk) == {}


def test_what_the_old_applet_set_on_its_way_out_is_not_the_new_ones(talk: Conversation) -> None:
    talk.open_window(revision=2, html="<p>new")
    set_state(talk, {"old": 1}, revision=1)
    set_state(talk, {"new": 1}, revision=2)
    assert state(talk) == {"new": 1}


def test_same_saved_applet_again_keeps_its_state() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window(slug="sheet", html="<p>1")
    push(talk, {"n": 1})
    talk.open_window(revision=2, slug="sheet", html="<p>2")
    assert state(talk) == {"n": 1}
    talk.open_window(revision=3, slug="other", html="<p>2")
    assert state(talk) == {}


def test_two_applets_that_are_not_saved_are_not_the_same_one(talk: Conversation) -> None:
    push(talk, {"n": 1})
    talk.open_window(revision=2)
    assert state(talk) == {}


def test_numbers_go_on_so_that_an_old_word_is_not_taken_for_a_new_one(talk: Conversation) -> None:
    push(talk, {"n": 1})
    before = updates(talk)[-1].rev
    talk.open_window(revision=2, html="<p>new")
    push(talk, {"n": 2})
    seen(talk, rev=before)
    assert len(updates(talk)) == 1
    assert talk.messages(WindowContent)[-1].rev > before


def test_state_given_with_the_content_is_there_from_the_start(talk: Conversation) -> None:
    talk.call("open_window", {"windowId": "sheet", "revision": 2, "content": {"html": "<p>"}, "state": {"n": 7}})
    assert talk.messages(WindowContent)[-1].state == {"n": 7}
    assert state(talk) == {"n": 7}


def test_kernel_that_comes_after_its_page_still_gives_the_state_that_was_saved() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page()
    talk.show(revision=5)
    set_state(talk, {"set": "by the page"})
    given = {"saved": 1, "set": "before"}
    talk.call("open_window", {"windowId": "sheet", "revision": 5, "content": {"html": "<p>"}, "state": given})
    assert state(talk) == {"saved": 1, "set": "by the page"}
    assert updates(talk)[-1].data == {"saved": 1}


# ---- limits and reserved keys


@pytest.mark.parametrize("key", RESERVED)
def test_reserved_key_is_no_agents_to_set(talk: Conversation, key: str) -> None:
    error = talk.error(push(talk, {key: {}, "n": 1}))
    assert (error.code, key in error.message) == ("INVALID_ARGUMENTS", True)
    assert state(talk) == {}


def test_local_storage_of_an_applet_goes_to_its_other_views_and_to_nobody_else(talk: Conversation) -> None:
    talk.kernel("second")
    plain(talk)
    talk.show("v2")
    set_state(talk, {"__storage": {"a": "1"}})
    set_state(talk, {"n": 1, "__storage": {"a": "2"}})
    assert updates(talk, "v2")[0].data == {"__storage": {"a": "1"}}
    assert told(talk) == told(talk, "second") == [{"n": 1}]
    assert [m.data for m in talk.messages(StateUpdate, "plain")] == [{"n": 1}]
    assert state(talk) == {"n": 1}
    assert talk.error(talk.call("get_applet_state", {"windowId": "sheet", "key": "__storage"})).names == ["n"]


def test_applet_cannot_write_what_it_would_be_restored_from(talk: Conversation) -> None:
    set_state(talk, {"__commands": [{"command": "mail"}]})
    assert talk.messages(ErrorReply)[-1].code == "INVALID_ARGUMENTS"
    assert "__commands" not in talk.host.showing.kept(next(iter(talk.host.windows)))


def test_state_that_would_be_too_large_is_refused_whole(talk: Conversation) -> None:
    push(talk, {"a": "x" * (MAX_STATE_BYTES // 2)})
    error = talk.error(push(talk, {"b": "x" * (MAX_STATE_BYTES // 2), "c": 1}))
    assert error.code == "TOO_LARGE"
    assert sorted(state(talk)) == ["a"]
    talk.value(push(talk, {"a": 1}))
    talk.value(push(talk, {"b": "x" * (MAX_STATE_BYTES // 2), "c": 1}))


def test_page_is_told_when_its_state_is_too_large(talk: Conversation) -> None:
    set_state(talk, {"a": "x" * (MAX_STATE_BYTES + 1)})
    assert talk.messages(ErrorReply)[-1].code == "TOO_LARGE"


def test_content_whose_state_is_too_large_changes_nothing(talk: Conversation) -> None:
    push(talk, {"n": 1})
    large = {"a": "x" * (MAX_STATE_BYTES + 1)}
    for window in ("sheet", "fresh"):
        call = {"windowId": window, "revision": 9, "content": {"html": "<p>nine"}, "state": large}
        assert talk.error(talk.call("open_window", call)).code == "TOO_LARGE"
    assert [w.id for w in talk.host.windows] == ["sheet"]
    assert state(talk) == {"n": 1}
    call = talk.query("cells")
    talk.answer_last({})
    assert talk.value(call) == {}


# ---- cuts and restarts


def test_page_that_was_cut_is_told_the_whole_state_when_it_is_back(talk: Conversation) -> None:
    push(talk, {"a": 1})
    talk.disconnect("page")
    push(talk, {"a": 2, "b": 3})
    talk.page("again", views=[ViewState("v1", "sheet", 1, 1, True, True, SHEET, state={"a": 1})])
    content = talk.messages(WindowContent, "again")[-1]
    assert (content.content, content.state) == (None, {"a": 2, "b": 3})
    push(talk, {"a": 3})
    assert talk.messages(StateUpdate, "again") == []  # the whole is still on its way
    talk.receive("again", StateSeen("sheet", "v1", content.rev))
    assert [u.data for u in talk.messages(StateUpdate, "again")] == [{"a": 3}]


def test_new_host_adopts_the_state_that_a_page_has() -> None:
    talk = Conversation()
    talk.kernel()
    talk.page(views=[ViewState("v1", "sheet", 7, 3, True, True, SHEET, state={"n": 1, "__storage": {"a": "1"}})])
    assert state(talk) == {"n": 1}
    assert told(talk) == [{"n": 1}]
    assert talk.messages(WindowContent)[-1].state == {"n": 1, "__storage": {"a": "1"}}


def test_host_that_knows_better_adopts_only_what_it_lacks(talk: Conversation) -> None:
    push(talk, {"n": 2})
    talk.page("other", views=[ViewState("v9", "sheet", 1, 3, True, True, SHEET, state={"n": 1, "m": 1})])
    assert state(talk) == {"n": 2, "m": 1}


def test_view_with_a_state_that_is_too_large_is_shown_without_it() -> None:
    talk = Conversation()
    talk.kernel()
    large = {"a": "x" * (MAX_STATE_BYTES + 1)}
    talk.page(views=[ViewState("v1", "sheet", 7, 3, True, True, SHEET, state=large)])
    assert talk.messages(WindowContent)[-1].state == {}
    [line] = talk.value(talk.call("get_applet_logs", {"windowId": "sheet"}))
    assert (line["level"], "could not be taken over" in line["args"][0]) == ("error", True)


def test_view_that_merely_asks_whether_the_host_is_there_is_not_told_an_old_update_again(talk: Conversation) -> None:
    push(talk, {"n": 1})
    talk.receive("page", StateSeen("sheet", "v1", updates(talk)[-1].rev))
    talk.show(ready=True, document=1)
    push(talk, {"n": 2})
    content = talk.messages(WindowContent)[-1]
    assert content.state == {"n": 1}
    assert updates(talk)[-1].data == {"n": 2}


# ---- the seed's own client


def test_plain_client_gets_the_seeds_message_and_no_other_field(talk: Conversation) -> None:
    plain(talk)
    push(talk, {"progress": 50, "status": "Processing..."})
    [update] = talk.sent["plain"]
    assert msgspec.to_builtins(update) == {
        "type": "stateUpdate",
        "data": {"progress": 50, "status": "Processing..."},
    }


def test_plain_client_sets_the_state_of_the_active_window(talk: Conversation) -> None:
    plain(talk)
    plain(talk, "second")
    talk.receive("plain", SetState({"formData": {"name": "Ada"}}))
    assert state(talk) == {"formData": {"name": "Ada"}}
    assert talk.sent.get("plain", []) == []
    assert [m.data for m in talk.messages(StateUpdate, "second")] == [{"formData": {"name": "Ada"}}]
    assert [u.data for u in updates(talk)] == [{"formData": {"name": "Ada"}}]


def test_plain_client_hears_of_the_active_window_alone(talk: Conversation) -> None:
    plain(talk)
    talk.call("set_applet_content", {"html": "<p>", "windowId": "front"})
    push(talk, {"of": "the window behind"})
    talk.call("set_applet_state", {"windowId": "front", "data": {"of": "the one in front"}})
    assert [m.data for m in talk.messages(StateUpdate, "plain")] == [{"of": "the one in front"}]


def test_plain_client_without_a_window_is_told_that_there_is_none() -> None:
    talk = Conversation()
    plain(talk)
    talk.receive("plain", SetState({"n": 1}))
    [error] = talk.messages(ErrorReply, "plain")
    assert (error.code, error.id) == ("WINDOW_NOT_FOUND", None)


# ---- the tools


def test_state_comes_with_what_shows_it(talk: Conversation) -> None:
    talk.open_window(revision=2, title="Sheet", slug="sheet")
    set_state(talk, {"a": 1, "b": 2})
    told = {"windowId": "sheet", "activeSlug": "sheet", "appletTitle": "Sheet", "hasApplet": True}
    assert talk.value(talk.call("get_applet_state", {})) == {"state": {"a": 1, "b": 2}, **told}
    assert talk.value(talk.call("get_applet_state", {"key": "a"})) == {"state": {"a": 1}, **told}
    error = talk.error(talk.call("get_applet_state", {"key": "c"}))
    assert (error.code, error.names) == ("UNKNOWN_STATE_KEY", ["a", "b"])


def test_state_where_no_window_is_open_is_empty_and_says_so() -> None:
    talk = Conversation()
    talk.kernel()
    assert talk.value(talk.call("get_applet_state", {})) == {
        "state": {},
        "windowId": None,
        "activeSlug": None,
        "appletTitle": None,
        "hasApplet": False,
    }
    assert talk.error(talk.call("get_applet_state", {"windowId": "x"})).code == "WINDOW_NOT_FOUND"
    assert talk.error(talk.call("set_applet_state", {"data": {}})).code == "WINDOW_NOT_FOUND"


def test_pushing_to_a_window_that_nobody_shows_says_so_and_keeps_it() -> None:
    talk = Conversation()
    talk.kernel()
    talk.open_window()
    assert talk.value(push(talk, {"n": 1}))["shown"] is False
    talk.page()
    talk.show()
    assert talk.messages(WindowContent)[-1].state == {"n": 1}
