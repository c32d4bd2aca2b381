"""The Applet widget without a page: its traits, its arguments, and what the host's notices do to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from traitlets import TraitError

from jupyter_applets import Applet, app_query, close_window, list_windows
from jupyter_applets.errors import InvalidArguments, TooLarge, WindowNotFound
from jupyter_applets.kernel import connection as module
from jupyter_applets.protocol.app import AppManifest, CommandDescriptor, StateDescriptor
from jupyter_applets.protocol.link import ConsoleEntry, ConsoleLines, Interaction, WindowReady
from jupyter_applets.widget.manifest import Manifest


def test_callback_in_a_script_may_itself_make_a_blocking_call(callbacks_done: Callable[[], None]) -> None:
    app = Applet(window_id="sheet")
    seen: list[Any] = []
    app.on_interaction(lambda content: seen.append(list_windows()[0]["windowId"]))
    app.take_notice(Interaction("sheet", "x"))
    callbacks_done()
    assert seen == ["sheet"]


def test_traits_have_the_names_of_the_arguments() -> None:
    app = Applet("<p>", "go()", "p{}", "Title", "w", {"network": ["https://x.org"]}, {"d3": "export {}"}, 300)
    state = app.get_state()
    assert {name: state[name] for name in ("html", "js", "css", "title", "window_id", "height")} == {
        "html": "<p>",
        "js": "go()",
        "css": "p{}",
        "title": "Title",
        "window_id": "w",
        "height": 300,
    }
    assert state["permissions"] == {"network": ["https://x.org"]}
    assert state["_route"] == "kernel"


def test_unknown_argument_is_refused_with_the_known_ones() -> None:
    with pytest.raises(TypeError, match=r"'htm'.*html, js, css"):
        Applet(htm="<p>")


def test_window_gets_a_name_of_its_own() -> None:
    assert Applet().window_id != Applet().window_id


def test_window_is_known_to_the_host_as_soon_as_it_is_made() -> None:
    Applet(title="Sheet", window_id="sheet")
    [window] = list_windows()
    assert (window["windowId"], window["title"], window["views"], window["ready"]) == ("sheet", "Sheet", 0, False)


def test_making_it_again_takes_the_window_over() -> None:
    first, second = Applet(window_id="sheet", title="One"), Applet(window_id="sheet", title="Two")
    assert second._revision > first._revision
    [window] = list_windows()
    assert window["title"] == "Two"


def test_changed_content_is_a_new_revision() -> None:
    app = Applet("<p>one", window_id="sheet")
    before = app._revision
    app.html = "<p>two"
    middle = app._revision
    sent: list[Any] = []
    app.send_state = lambda keys: sent.append(sorted(keys))  # type: ignore[method-assign]
    app.set_content(html="<p>three", js="three()", title="Three")
    assert sent == [["_revision", "html", "js", "title"]]
    assert before < middle < app._revision
    assert (app.html, app.title) == ("<p>three", "Three")
    [window] = list_windows()
    assert window["title"] == "Three"


def test_content_that_is_refused_leaves_the_applet_usable() -> None:
    app = Applet("<p>one", window_id="sheet")
    with pytest.raises(TraitError):
        app.set_content(html=3)  # type: ignore[arg-type]
    before = app._revision
    app.html = "<p>two"
    assert app._revision > before


def test_closing_an_applet_that_was_taken_over_closes_nothing() -> None:
    first, _second = Applet(window_id="sheet"), Applet(window_id="sheet")
    first.close()
    assert [window["windowId"] for window in list_windows()] == ["sheet"]


def test_applet_over_the_limit_is_refused_and_the_others_stay() -> None:
    list_windows()
    with pytest.raises(TooLarge):
        Applet("x" * 17_000_000, window_id="big")
    Applet(window_id="small")
    module.connection()._open_windows()
    assert [window["windowId"] for window in list_windows()] == ["small"]


@pytest.mark.parametrize("timeout", [float("inf"), float("nan"), -1, 1e10])
def test_timeout_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(InvalidArguments, match="timeout"):
        app_query("sheet", "__console", timeout=timeout)


def test_closed_window_is_gone() -> None:
    app = Applet(window_id="sheet")
    app.close()
    assert list_windows() == []
    Applet(window_id="other")
    close_window("other")
    with pytest.raises(WindowNotFound):
        close_window("other")


def test_console_is_readable_without_a_page() -> None:
    Applet(window_id="sheet")
    assert app_query("sheet", "__console") == []


def test_notices_of_the_host_reach_the_widget(callbacks_done: Callable[[], None]) -> None:
    app = Applet(window_id="sheet")
    heard: list[str] = []
    app.on_interaction(heard.append)
    app.on_interaction(heard.append)
    app.take_notice(Interaction("sheet", "User clicked save"))
    callbacks_done()
    assert heard == ["User clicked save"]
    app.on_interaction(heard.append, remove=True)
    app.take_notice(Interaction("sheet", "again"))
    callbacks_done()
    assert heard == ["User clicked save"]
    app.take_notice(ConsoleLines("sheet", [ConsoleEntry("error", ["boom", "at line 3"], 1e12)], 2))
    assert [(entry.level, entry.text) for entry in app.logs] == [
        ("error", "boom at line 3"),
        ("warn", "2 lines came too fast and were dropped"),
    ]
    assert "boom at line 3" in repr(app.logs)
    assert "boom at line 3" in app.logs._repr_html_()


def test_callback_that_raises_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture, callbacks_done: Callable[[], None]
) -> None:
    app = Applet(window_id="sheet")
    heard: list[str] = []

    def fails(content: str) -> None:
        raise ValueError(content)

    app.on_interaction(fails)
    app.on_interaction(heard.append)
    app.take_notice(Interaction("sheet", "hello"))
    callbacks_done()
    assert heard == ["hello"]
    assert "a callback failed" in caplog.text


SET_CELLS = {"type": "object", "properties": {"cells": {"type": "object"}, "at": {}}, "required": ["cells"]}
MANIFEST = AppManifest(
    "sheet",
    "Sheet <1>",
    {"cells": StateDescriptor("All cells", {"type": "object"})},
    {
        "setCells": CommandDescriptor(
            "Set cells",
            {"type": "object", "properties": {"cells": {"type": "object"}, "at": {}}, "required": ["cells"]},
        ),
        "clear": CommandDescriptor("Clear <all>"),
        "odd": CommandDescriptor("", True),
    },
)


def test_manifest_is_typed_and_readable() -> None:
    app = Applet(window_id="sheet")
    app.take_notice(WindowReady("sheet", MANIFEST))
    manifest = app.manifest
    assert manifest.commands["setCells"].params["required"] == ["cells"]
    assert repr(manifest).splitlines() == [
        "Sheet <1> (sheet)",
        "  state",
        "    cells: object  All cells",
        "  commands",
        "    setCells(cells: object, at?)  Set cells",
        "    clear()  Clear <all>",
        "    odd(…)",
    ]


def test_manifest_as_html_escapes_what_the_applet_says() -> None:
    html = Manifest.of(MANIFEST)._repr_html_()
    assert "Clear &lt;all&gt;" in html
    assert "<1>" not in html


@pytest.mark.parametrize("params", [{"properties": 3}, {"properties": {"a": 3}, "required": 3}, {"type": ["a", "b"]}])
def test_manifest_with_an_odd_schema_is_still_shown(params: Any) -> None:
    assert "go" in repr(Manifest.of(AppManifest("x", "x", {}, {"go": CommandDescriptor("", params)})))


def test_widget_whose_page_fell_back_returns_to_the_server_when_a_page_reaches_it() -> None:
    app = Applet(window_id="sheet")
    connection = module.connection()
    local = connection.local().link
    connection._server = local.__class__(connection.local()._driver, connection.local()._thread.call_soon, "s", "k2")
    connection.on_comm(app, {"page": "p1"})
    assert connection.link("sheet") is local
    connection._on_server_notice(WindowReady("sheet", None))
    assert connection.link("sheet") is connection._server
