"""The host inside the kernel: a page over a comm, played frame by frame as the widget's JavaScript sends them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from jupyter_applets.kernel.local import LocalHost

WAIT = 10
HELLO = {"type": "hello", "protocol": 1, "version": "0.1.0", "role": "page", "session": "nb", "id": "p1"}
VIEW = {"viewId": "v1", "windowId": "sheet", "document": 1, "ready": True, "manifest": {"state": {"cells": {}}}}


class Widget:
    """A widget as far as the local host knows one; what it is given for its comm can be read here."""

    window_id = "sheet"

    def __init__(self) -> None:
        self.comm: Queue[dict[str, Any]] = Queue()

    def open_window(self) -> None: ...

    def take_notice(self, notice: Any) -> None: ...

    def put_on_comm(self, content: dict[str, Any]) -> None:
        self.comm.put(content)

    def frame(self) -> dict[str, Any]:
        return self.comm.get(timeout=WAIT)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LocalHost]:
    host = LocalHost("nb", "kernel", "0.1.0", str(tmp_path))
    yield host
    host.close()


@pytest.fixture
def widget() -> Widget:
    return Widget()


def say(host: LocalHost, widget: Widget, seq: int, *messages: Any, ack: int = 0) -> None:
    host.on_comm(widget, {"kind": "frame", "page": "p1", "seq": seq, "ack": ack, "messages": list(messages)})


def connect(host: LocalHost, widget: Widget) -> None:
    say(host, widget, 1, {**HELLO, "views": [VIEW]})
    frame = widget.frame()
    assert (frame["kind"], frame["page"], frame["seq"]) == ("frame", "p1", 1)
    assert frame["messages"][0]["type"] == "welcome"


def answer(host: LocalHost, widget: Widget, seq: int, request: dict[str, Any], data: Any) -> None:
    response = {"kind": "query", "data": data}
    say(
        host,
        widget,
        seq,
        {"type": "APP_PROTOCOL_RESPONSE", "requestId": request["requestId"], "windowId": "sheet", "response": response},
    )


def ask(host: LocalHost) -> Any:
    return host.link.call("app_query", {"windowId": "sheet", "stateKey": "cells"})


def test_kernel_asks_over_the_comm_and_is_answered(host: LocalHost, widget: Widget) -> None:
    connect(host, widget)
    pending = ask(host)
    [request] = widget.frame()["messages"]
    answer(host, widget, 2, request, {"A1": "1"})
    assert pending.result(WAIT) == {"A1": "1"}


def test_frame_that_was_lost_is_sent_again(host: LocalHost, widget: Widget) -> None:
    connect(host, widget)
    ask(host)
    lost = widget.frame()
    host.on_comm(widget, {"kind": "nack", "page": "p1", "expected": lost["seq"]})
    assert widget.frame() == lost


def test_frame_that_is_no_longer_kept_starts_the_page_over(host: LocalHost, widget: Widget) -> None:
    connect(host, widget)
    say(host, widget, 2, ack=1)
    host.on_comm(widget, {"kind": "nack", "page": "p1", "expected": 1})
    assert widget.frame() == {"kind": "reset", "page": "p1"}


def test_frame_that_comes_twice_counts_once(host: LocalHost, widget: Widget) -> None:
    connect(host, widget)
    pending = ask(host)
    [request] = widget.frame()["messages"]
    for _ in range(2):
        answer(host, widget, 2, request, 1)
    assert pending.result(WAIT) == 1
    again = ask(host)
    [request] = widget.frame()["messages"]
    answer(host, widget, 3, request, 2)
    assert again.result(WAIT) == 2


def test_burst_of_calls_travels_in_few_frames(host: LocalHost, widget: Widget) -> None:
    """Jupyter drops comm messages beyond about 1,000 a second."""
    connect(host, widget)
    pending = [ask(host) for _ in range(500)]
    requests: list[Any] = []
    frames = 0
    while len(requests) < len(pending):
        requests += widget.frame()["messages"]
        frames += 1
    assert frames < 50


def test_call_after_a_reload_goes_to_the_page_that_is_there(host: LocalHost, widget: Widget) -> None:
    """A comm does not tell that a page is gone."""
    connect(host, widget)
    fresh = {**HELLO, "id": "p2", "views": [{**VIEW, "viewId": "v2"}]}
    host.on_comm(widget, {"kind": "frame", "page": "p2", "seq": 1, "messages": [fresh]})
    assert widget.frame() == {"kind": "reset", "page": "p1"}
    assert widget.frame()["page"] == "p2"
    ask(host)
    frame = widget.frame()
    assert (frame["page"], frame["messages"][0]["viewId"]) == ("p2", "v2")


def test_two_pages_on_one_comm_both_stay_when_both_are_there(host: LocalHost, widget: Widget) -> None:
    connect(host, widget)
    host.on_comm(widget, {"kind": "frame", "page": "p2", "seq": 1, "messages": [{**HELLO, "id": "p2"}]})
    assert widget.frame() == {"kind": "reset", "page": "p1"}
    assert widget.frame()["page"] == "p2"
    say(host, widget, 1, {**HELLO, "views": [{**VIEW, "settled": True}]})
    frame = widget.frame()
    assert (frame["page"], frame["seq"], frame["messages"][0]["type"]) == ("p1", 1, "welcome")
    pending = ask(host)
    [request] = widget.frame()["messages"]
    answer(host, widget, 2, request, 1)
    assert pending.result(WAIT) == 1


@pytest.mark.parametrize(
    "content",
    [
        None,
        3,
        {},
        {"page": 3},
        {"page": "p1"},
        {"page": "p1", "kind": "frame", "seq": "x", "messages": 3},
        {"page": "p1", "kind": "nack", "expected": "x"},
        {"page": "p1", "kind": "frame", "seq": 2, "messages": [3, {"type": "nope"}]},
    ],
)
def test_junk_on_the_comm_breaks_nothing(host: LocalHost, widget: Widget, content: Any) -> None:
    connect(host, widget)
    host.on_comm(widget, content)
    pending = ask(host)
    while True:
        requests = [m for m in widget.frame().get("messages", []) if m["type"] == "APP_PROTOCOL_REQUEST"]
        if requests:
            break
    answer(host, widget, 9, requests[0], 1)
    assert pending.result(WAIT) == 1
