"""`app.state`, `app.push`, `app.on_state`, `app.wait_for_state`, against the host that is inside."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_applets import Applet, get_applet_state, set_applet_content, set_applet_state
from jupyter_applets.errors import BlockingCallUnavailable, CallTimeout, InvalidArguments
from jupyter_applets.protocol.link import StateChanged


def held(window: str = "sheet") -> Any:
    return get_applet_state(window)["state"]


def test_what_is_pushed_is_in_the_state_here_and_at_the_host() -> None:
    app = Applet(window_id="sheet")
    app.push(progress=50, status="Working")
    assert dict(app.state) == held() == {"progress": 50, "status": "Working"}


def test_what_was_pushed_before_there_was_a_host_is_not_lost() -> None:
    app = Applet(window_id="sheet")
    app.push(n=1)
    assert held() == {"n": 1}


def test_twenty_thousand_pushes_arrive_as_the_last_value_of_every_key() -> None:
    app = Applet(window_id="sheet")
    for n in range(20_000):
        app.push(**{"n": n, f"k{n % 10}": n})
    assert held() == dict(app.state) == {"n": 19_999, **{f"k{k}": 19_990 + k for k in range(10)}}


def test_call_after_a_push_finds_it_done() -> None:
    app = Applet(window_id="sheet")
    for n in range(100):
        app.push(n=n)
        assert held() == {"n": n}


def test_tool_in_the_same_kernel_changes_what_the_widget_shows() -> None:
    app = Applet(window_id="sheet")
    set_applet_state({"n": 1}, "sheet")
    assert app.wait_for_state("n", lambda n: n == 1, timeout=10) == 1


def test_what_cannot_be_pushed_raises_where_it_is_pushed() -> None:
    app = Applet(window_id="sheet")
    with pytest.raises(InvalidArguments, match="'f'"):
        app.push(f=lambda: 1)
    with pytest.raises(InvalidArguments, match="reserved"):
        app.push(__storage={})
    app.push(n=1)
    assert held() == {"n": 1}


def test_push_that_the_host_refuses_is_in_the_logs_and_not_in_the_state() -> None:
    app = Applet(window_id="sheet")
    app.push(a="x" * 5_000_000)
    held()
    app.push(b="x" * 5_000_000)
    held()
    assert sorted(held()) == ["a"]
    assert sorted(app.state) == ["a"]
    assert any("A push was refused" in entry.text for entry in app.logs)
    app.push(n=1)
    assert held()["n"] == 1


def test_state_of_the_applet_reaches_callbacks_and_own_pushes_do_not(callbacks_done: Callable[[], None]) -> None:
    app = Applet(window_id="sheet")
    heard: list[Any] = []
    app.on_state(heard.append)
    app.push(mine=1)
    held()
    app.take_notice(StateChanged("sheet", {"n": 1}, 5))
    callbacks_done()
    assert heard == [{"n": 1}]
    app.on_state(heard.append, remove=True)
    app.take_notice(StateChanged("sheet", {"n": 2}, 6))
    callbacks_done()
    assert heard == [{"n": 1}]


def test_waiting_gives_the_value_that_was_waited_for() -> None:
    app = Applet(window_id="sheet")
    app.push(n=3)
    assert app.wait_for_state("n", timeout=0) == 3

    def applet() -> None:
        for n in range(10):
            app.take_notice(StateChanged("sheet", {"m": n}, n))

    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(app.wait_for_state("m", lambda m: m > 8, timeout=10)))
    waiting.start()
    applet()
    waiting.join(10)
    assert found == [9]


def test_waiting_in_vain_says_what_there_is_instead() -> None:
    app = Applet(window_id="sheet")
    app.push(n=1)

    def wait(*args: Any) -> str:
        """In a thread: here, no cell of a kernel that takes no answers would be blocked."""
        raised: list[BaseException] = []

        def run() -> None:
            try:
                app.wait_for_state(*args, timeout=0.01)
            except CallTimeout as e:
                raised.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(10)
        return str(raised[0])

    assert "it is 1" in wait("n", lambda n: n > 1)
    assert "not set" in wait("m")


def test_waiting_where_nothing_could_arrive_says_how_to_await() -> None:
    app = Applet(window_id="sheet")
    with pytest.raises(BlockingCallUnavailable, match=r"await <applet>.await_for_state\('n'"):
        app.wait_for_state("n", timeout=1)


async def test_awaiting_a_state() -> None:
    app = Applet(window_id="sheet")
    app.push(n=1)
    assert await app.await_for_state("n") == 1
    threading.Timer(0, app.take_notice, [StateChanged("sheet", {"m": 2}, 9)]).start()
    assert await app.await_for_state("m", lambda m: m == 2, timeout=10) == 2
    with pytest.raises(CallTimeout, match="not set"):
        await app.await_for_state("z", timeout=0.01)
    with pytest.raises(ZeroDivisionError):
        await app.await_for_state("n", lambda n: 1 / 0, timeout=10)


async def test_predicate_that_fails_later_raises_for_whoever_waits() -> None:
    app = Applet(window_id="sheet")
    threading.Timer(0, app.take_notice, [StateChanged("sheet", {"m": 0}, 9)]).start()
    with pytest.raises(ZeroDivisionError):
        await app.await_for_state("m", lambda m: 1 / m, timeout=10)


def test_new_content_begins_without_state_and_is_no_saved_applet() -> None:
    app = Applet("<p>one", window_id="sheet")
    app.push(n=1)
    app.save("notes")
    assert get_applet_state("sheet")["activeSlug"] == app.slug == "notes"
    app.set_content(html="<p>two")
    assert (dict(app.state), app.slug) == ({}, "")
    assert get_applet_state("sheet")["activeSlug"] is None
    assert held() == {}


def test_changed_title_keeps_state_and_slug() -> None:
    app = Applet("<p>one", window_id="sheet")
    app.push(n=1)
    app.save("notes")
    app.set_content(title="Other")
    assert (held(), app.slug) == ({"n": 1}, "notes")


def test_widget_follows_content_that_an_agent_sets() -> None:
    app = Applet("<p>one", window_id="sheet")
    app.push(n=1)
    held()
    set_applet_content("<p>agent", "go()", title="Agent", window_id="sheet")
    assert (app.html, app.js, app.title, dict(app.state)) == ("<p>agent", "go()", "Agent", {})
    app.push(m=1)
    assert held() == {"m": 1}
    app.html = "<p>mine again"
    assert get_applet_state("sheet")["state"] == {}
    assert app.html == "<p>mine again"


def test_applet_that_is_shown_again_in_another_cell_starts_over() -> None:
    Applet("<p>one", window_id="sheet").push(n=1)
    held()
    again = Applet("<p>one", window_id="sheet")
    assert held() == dict(again.state) == {}
