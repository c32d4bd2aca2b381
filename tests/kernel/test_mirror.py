"""The kernel's mirror of a window's state: bursts go as few pushes, and the last value of every key arrives."""

from __future__ import annotations

import math
import threading
from datetime import datetime, timezone
from typing import Any

import msgspec
import pytest

from jupyter_applets.errors import AppletError, InvalidArguments, LinkLost, TooLarge
from jupyter_applets.kernel.mirror import State
from jupyter_applets.link.base import PendingCall
from jupyter_applets.protocol.channel import MAX_STATE_BYTES, RESERVED


class Link:
    """Where pushes go. They are answered when the test says so, in order."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.pending: list[PendingCall] = []
        self.heard: list[dict[str, Any]] = []
        self.failed: list[AppletError] = []
        self.lost: AppletError | None = None
        self.is_there = True
        self.state = State(self.send, self.heard.append, self.failed.append)

    def send(self, data: dict[str, Any]) -> PendingCall | None:
        if not self.is_there:
            return None
        self.sent.append(msgspec.json.decode(msgspec.json.encode(data)))
        pending = PendingCall(f"c{len(self.sent)}")
        if self.lost is not None:
            pending.set_exception(self.lost)
        else:
            self.pending.append(pending)
        return pending

    def answer(self, error: AppletError | None = None) -> None:
        pending = self.pending.pop(0)
        if error is None:
            pending.set_result(1)
        else:
            pending.set_exception(error)


@pytest.fixture
def link() -> Link:
    return Link()


def test_first_push_goes_at_once_and_shows_at_once(link: Link) -> None:
    link.state.push({"n": 1})
    assert link.sent == [{"n": 1}]
    assert dict(link.state) == {"n": 1}
    assert link.heard == []


def test_twenty_thousand_pushes_are_two_messages(link: Link) -> None:
    for n in range(20_000):
        link.state.push({"n": n, f"k{n % 3}": n})
    assert len(link.sent) == 1
    link.answer()
    assert link.sent[1] == {"n": 19_999, "k0": 19_998, "k1": 19_999, "k2": 19_997}
    link.answer()
    assert len(link.sent) == 2


def test_what_was_pushed_before_a_call_is_sent_before_it(link: Link) -> None:
    link.state.push({"n": 1})
    link.state.push({"n": 2})
    link.state.flush()
    link.state.flush()
    assert link.sent == [{"n": 1}, {"n": 2}]


def test_value_is_taken_as_it_was_when_it_was_pushed(link: Link) -> None:
    rows = [1]
    link.state.push({"first": 0})
    link.state.push({"rows": rows})
    rows.append(2)
    link.answer()
    assert link.sent[1] == {"rows": [1]}
    assert link.state["rows"] == [1]


def test_mirror_shows_what_the_applet_will_see(link: Link) -> None:
    at = datetime(2026, 11, 18, tzinfo=timezone.utc)
    link.state.push({"tuple": (1, 2), "bytes": b"\xff", "at": at, "nan": math.nan, "one": 1, "yes": True})
    assert (
        dict(link.state)
        == link.sent[0]
        == {
            "tuple": [1, 2],
            "bytes": "/w==",
            "at": "2026-11-18T00:00:00Z",
            "nan": None,
            "one": 1,
            "yes": True,
        }
    )


# ---- what others say


def test_change_by_others_is_taken_and_told(link: Link) -> None:
    link.state.take({"n": 1})
    assert (dict(link.state), link.heard) == ({"n": 1}, [{"n": 1}])


def test_key_on_its_way_to_the_host_is_not_overwritten_by_what_came_before_it(link: Link) -> None:
    link.state.push({"n": "mine"})
    link.state.take({"n": "theirs", "m": 1})
    assert dict(link.state) == {"n": "mine", "m": 1}
    assert link.heard == [{"m": 1}]
    link.answer()
    link.state.take({"n": "theirs, later"})
    assert link.state["n"] == "theirs, later"


def test_key_that_waits_for_its_turn_is_not_overwritten_either(link: Link) -> None:
    link.state.push({"a": 1})
    link.state.push({"b": 1})
    link.state.take({"b": 2})
    link.answer()
    link.state.take({"b": 3})
    assert link.state["b"] == 1
    link.answer()
    link.state.take({"b": 4})
    assert link.state["b"] == 4


def test_whole_state_of_the_host_is_taken_over_but_for_what_is_on_its_way(link: Link) -> None:
    link.state.take({"gone": 1, "n": 1, "same": 1})
    link.heard.clear()
    link.state.push({"mine": 1})
    link.state.replace({"n": 2, "same": 1, "mine": 0, "new": 1})
    assert dict(link.state) == {"n": 2, "same": 1, "mine": 1, "new": 1}
    assert link.heard == [{"n": 2, "new": 1}]


def test_cleared_state_forgets_what_waits(link: Link) -> None:
    link.state.push({"a": 1})
    link.state.push({"b": 1})
    link.state.clear()
    link.answer()
    assert dict(link.state) == {}
    assert link.sent == [{"a": 1}]


# ---- what goes wrong


def test_push_that_was_lost_is_sent_again_with_what_came_since(link: Link) -> None:
    link.state.push({"a": 1, "b": 1})
    link.state.push({"b": 2})
    link.answer(LinkLost("cut"))
    assert len(link.sent) == 1
    link.state.take({"a": "of another", "b": "of another"})
    link.state.flush()
    assert link.sent[1] == {"a": 1, "b": 2}
    assert dict(link.state) == {"a": 1, "b": 2}
    assert link.failed == []


def test_of_two_pushes_that_were_lost_the_later_stands(link: Link) -> None:
    link.state.push({"a": 1})
    link.state.push({"a": 2})
    link.state.flush()
    link.answer(LinkLost("cut"))
    link.answer(LinkLost("cut"))
    link.state.flush()
    assert link.sent[-1] == {"a": 2}


def test_link_that_is_closed_is_not_tried_for_ever(link: Link) -> None:
    link.lost = LinkLost("closed")
    link.state.push({"a": 1})
    link.state.push({"a": 2})
    assert len(link.sent) == 2
    assert link.state["a"] == 2


def test_push_that_is_refused_is_told_and_does_not_hold_up_the_next(link: Link) -> None:
    link.state.push({"a": 1})
    link.state.push({"b": 1})
    link.answer(TooLarge("too large"))
    assert [error.code for error in link.failed] == ["TOO_LARGE"]
    assert link.sent[1] == {"b": 1}
    link.state.replace({})
    assert dict(link.state) == {"b": 1}


def test_push_that_cannot_be_sent_is_told_and_does_not_hold_up_the_next(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(data: dict[str, Any]) -> None:
        raise TooLarge("over the limit")

    with monkeypatch.context() as patch:
        patch.setattr(link.state, "_send", refuse)
        link.state.push({"a": 1})
    assert [error.code for error in link.failed] == ["TOO_LARGE"]
    link.state.push({"b": 1})
    assert link.sent == [{"b": 1}]


def test_without_a_host_the_values_are_kept_for_the_one_to_come(link: Link) -> None:
    link.is_there = False
    link.state.push({"a": 1})
    link.is_there = True
    link.state.push({"b": 1})
    assert dict(link.state) == {"a": 1, "b": 1}
    assert link.sent == [{"b": 1}]


@pytest.mark.parametrize(
    "value",
    [object(), {1: {2, object()}}, "\ud800", "x" * (MAX_STATE_BYTES + 1)],
    ids=["object", "deep", "half", "large"],
)
def test_what_cannot_be_sent_raises_at_once_and_changes_nothing(link: Link, value: Any) -> None:
    with pytest.raises((InvalidArguments, TooLarge), match="'bad'"):
        link.state.push({"good": 1, "bad": value})
    assert dict(link.state) == {}
    assert link.sent == []


def test_value_that_contains_itself_raises_too(link: Link) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidArguments):
        link.state.push({"loop": loop})


@pytest.mark.parametrize("key", RESERVED)
def test_reserved_key_raises(link: Link, key: str) -> None:
    with pytest.raises(InvalidArguments, match="reserved"):
        link.state.push({key: 1})


# ---- waiting


def test_waiting_ends_when_the_value_is_as_asked_for(link: Link) -> None:
    def others() -> None:
        for n in range(5):
            link.state.take({"n": n})

    thread = threading.Thread(target=others)
    thread.start()
    assert link.state.wait_for("n", lambda n: n >= 4, 10) == (4,)
    thread.join()


@pytest.mark.parametrize("value", [0, "", None, False, []])
def test_value_that_is_falsy_is_a_value(link: Link, value: Any) -> None:
    link.state.take({"n": value})
    assert link.state.wait_for("n", None, 0) == (value,)


def test_waiting_in_vain_gives_nothing(link: Link) -> None:
    link.state.take({"n": 1})
    assert link.state.wait_for("n", lambda n: n > 1, 0) == ()
    assert link.state.wait_for("m", None, 0.01) == ()


def test_what_is_pushed_here_ends_a_wait_in_another_thread(link: Link) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(link.state.wait_for("n", None, 10)))
    thread.start()
    link.state.push({"n": 1})
    thread.join(10)
    assert found == [(1,)]


def test_threads_that_push_and_flush_leave_the_last_value(link: Link) -> None:
    def work(key: str) -> None:
        for n in range(500):
            link.state.push({key: n})
            link.state.flush()

    threads = [threading.Thread(target=work, args=(key,)) for key in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while link.pending:
        link.answer()
    arrived: dict[str, Any] = {}
    for data in link.sent:
        arrived |= data
    assert arrived == dict(link.state) == {"a": 499, "b": 499, "c": 499}


# ---- to look at


def test_state_is_shown_as_a_table_in_which_nothing_runs(link: Link) -> None:
    assert "no state" in link.state._repr_html_()
    link.state.take({"<b>": "<script>" + "x" * 500})
    html = link.state._repr_html_()
    assert "<b>" not in html
    assert "<script>" not in html
    assert len(html) < 600
    assert repr(link.state).startswith("{'<b>'")


def test_state_is_a_mapping_that_cannot_be_set(link: Link) -> None:
    link.state.take({"a": 1})
    assert (list(link.state), len(link.state), link.state.get("b"), "a" in link.state) == (["a"], 1, None, True)
    with pytest.raises(TypeError):
        link.state["a"] = 2  # type: ignore[index]


def test_predicate_may_ask_the_applet_something() -> None:
    """What it waits for comes on the link's thread, which also brings state."""
    state = State(lambda data: None, lambda changes: None, lambda error: None)
    state.take({"n": 1})
    answered = threading.Event()

    def ask(value: Any) -> bool:
        thread = threading.Thread(target=lambda: (state.take({"other": value}), answered.set()))
        thread.start()
        return answered.wait(5)

    assert state.wait_for("n", ask, 10) == (1,)
