"""The Desk widget, and the bundles that a page loads over a widget's comm."""

from __future__ import annotations

from typing import Any

import pytest
from traitlets import TraitError

from jupyter_applets import Applet, Desk, list_windows, set_applet_content
from jupyter_applets.widget import bundles


def test_desk_owns_no_window() -> None:
    desk = Desk()
    assert list_windows() == []
    set_applet_content("<p>")
    assert [w["windowId"] for w in list_windows()] == ["applet-1"]
    desk.close()
    assert len(list_windows()) == 1


def test_height_is_pixels_or_a_css_length() -> None:
    assert (Desk().height, Desk(300).height, Desk("50vh").height) == (480, 300, "50vh")
    with pytest.raises(TraitError):
        Desk([1])  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [Applet, Desk])
def test_page_that_reaches_no_server_gets_its_bundles_over_the_comm(make: Any) -> None:
    widget = make()
    sent: list[Any] = []
    widget.put_on_comm = sent.append
    for name in ("lexer.js", "desk.js", "../applet.py", None, 3):
        widget._handle_custom_msg({"kind": "bundle", "name": name}, [])
    assert [message["name"] for message in sent] == ["lexer.js", "desk.js", "../applet.py", None, 3]
    assert sent[0]["text"] == bundles.text("lexer.js")
    assert all("error" in message and "text" not in message for message in sent[2:])


@pytest.mark.parametrize("junk", [None, 3, "x", [], {}, {"kind": "nope"}, {"page": 3}])
def test_junk_from_a_page_breaks_nothing(junk: Any) -> None:
    for widget in (Desk(), Applet(window_id="sheet")):
        widget._handle_custom_msg(junk, [])
    assert [w["windowId"] for w in list_windows()] == ["sheet"]
