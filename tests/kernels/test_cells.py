"""Calls on the in-kernel route, on real kernels: what a running cell may do (the table in CONTRIBUTING.md), and beyond.

What is not possible raises at once: never a deadlock, never a timeout that does not say why.
"""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Setup
from .kernel import CELLS, Kernel, Page

# The first test of a kernel version makes its environment.
pytestmark = [pytest.mark.kernels, pytest.mark.timeout(400)]

AT_ONCE = 1.0

CAN_AWAIT = {"7.3-subshell", "7.4-main", "7.4-subshell"}
CAN_BLOCK = {"7.3-subshell"}


def assert_answered(outcome: Any) -> None:
    assert (outcome["kind"], outcome["value"]) == ("answer", CELLS)
    assert outcome["seconds"] < AT_ONCE


def assert_refused(outcome: Any, error: str, names: str = "") -> None:
    assert outcome["kind"] == error
    assert names in outcome["value"]
    assert outcome["seconds"] < AT_ONCE


def assert_await_refused(outcome: Any) -> None:
    assert_refused(outcome, "AwaitUnavailable", "upgrade to ipykernel 7.4")


def assert_block_refused(outcome: Any) -> None:
    assert_refused(outcome, "BlockingCallUnavailable", "`await <applet>.aquery('cells')`")


# ---- inside a cell


def test_awaiting_in_a_cell(setup: Setup, kernel: Kernel) -> None:
    kernel.run("await awaiting()")
    (assert_answered if str(setup) in CAN_AWAIT else assert_await_refused)(kernel.printed())


def test_blocking_in_a_cell(setup: Setup, kernel: Kernel) -> None:
    kernel.run("blocking()")
    (assert_answered if str(setup) in CAN_BLOCK else assert_block_refused)(kernel.printed())


def test_blocking_in_a_cell_that_also_awaits(setup: Setup, kernel: Kernel) -> None:
    kernel.run("await asyncio.sleep(0); blocking()")
    (assert_answered if str(setup) in CAN_BLOCK else assert_block_refused)(kernel.printed())


def test_awaiting_in_a_cell_that_ran_another(setup: Setup, kernel: Kernel) -> None:
    """As `%run setup.ipynb` does: the cell inside has ended, the one outside has not."""
    kernel.run("get_ipython().run_cell('1'); await awaiting()")
    (assert_answered if str(setup) in CAN_AWAIT else assert_await_refused)(kernel.printed())


def test_calls_in_the_cell_that_shows_the_applet(setup: Setup, fresh_page: Page) -> None:
    """No page has said hello yet. On ipykernel 7.0 to 7.3 that leaves open what is possible, so the call tries."""
    fresh_page.kernel.run(
        "app = Applet(window_id='sheet'); display(app); await awaiting(timeout=1); blocking(timeout=1)"
    )
    awaited, blocked = fresh_page.kernel.printed(), fresh_page.kernel.printed()
    if str(setup) == "7.3-main":
        for outcome in (awaited, blocked):
            assert outcome["kind"] == "NotShown"
            assert "while a cell runs" in outcome["value"]
    else:
        (assert_answered if str(setup) in CAN_AWAIT else assert_await_refused)(awaited)
        (assert_answered if str(setup) in CAN_BLOCK else assert_block_refused)(blocked)


def test_thread_that_a_cell_waits_for(setup: Setup, kernel: Kernel) -> None:
    """A thread may wait for a cell to end; where the cell waits for the thread as well, the timeout says why."""
    kernel.run("thread = threading.Thread(target=blocking, kwargs={'timeout': 1}); thread.start(); thread.join()")
    outcome = kernel.printed()
    if str(setup) in CAN_BLOCK:
        assert_answered(outcome)
    else:
        assert outcome["kind"] == "CallTimeout"
        assert "while a cell runs" in outcome["value"]


# ---- between cells


def test_awaiting_in_a_callback(page: Page) -> None:
    page.kernel.run("async def answer(content): await awaiting()\napp.on_interaction(answer)")
    page.interact()
    assert_answered(page.kernel.printed())


def test_blocking_in_a_callback(setup: Setup, page: Page) -> None:
    """It runs on the kernel's own loop, which takes no messages while it blocks, whether a cell runs or not."""
    page.kernel.run("app.on_interaction(lambda content: blocking())")
    page.interact()
    (assert_answered if str(setup) in CAN_BLOCK else assert_block_refused)(page.kernel.printed())


def test_awaiting_in_a_task(page: Page) -> None:
    page.kernel.run(
        "due = asyncio.Event()\n"
        "async def work(): await due.wait(); await awaiting()\n"
        "task = asyncio.create_task(work())\n"
        "app.on_interaction(lambda content: due.set())"
    )
    page.interact()
    assert_answered(page.kernel.printed())


def test_blocking_in_a_thread(page: Page) -> None:
    page.kernel.run(
        "due = threading.Event()\n"
        "def work(): due.wait(30); blocking()\n"
        "threading.Thread(target=work).start()\n"
        "app.on_interaction(lambda content: due.set())"
    )
    page.interact()
    assert_answered(page.kernel.printed())


def test_awaiting_on_a_loop_of_a_thread(page: Page) -> None:
    page.kernel.run(
        "due = threading.Event()\n"
        "def work(): due.wait(30); asyncio.run(awaiting())\n"
        "threading.Thread(target=work).start()\n"
        "app.on_interaction(lambda content: due.set())"
    )
    page.interact()
    assert_answered(page.kernel.printed())


# ---- in the handler of another widget, which Jupyter calls on the thread that takes the page's messages


def test_blocking_in_the_handler_of_a_button(page: Page) -> None:
    page.kernel.run("button = Button(); button.on_click(lambda _: blocking())")
    page.kernel.until(lambda: bool(page.buttons))
    page.press()
    assert_block_refused(page.kernel.printed())


def test_awaiting_in_a_task_of_a_button(page: Page) -> None:
    page.kernel.run(
        "button = Button()\n"
        "def press(_):\n    global task\n    task = asyncio.get_running_loop().create_task(awaiting())\n"
        "button.on_click(press)"
    )
    page.kernel.until(lambda: bool(page.buttons))
    page.press()
    assert_answered(page.kernel.printed())
