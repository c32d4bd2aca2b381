"""Desk: a widget that shows the windows of this notebook's session as tabs, for what agents open."""

from __future__ import annotations

import contextvars
from typing import Any

import anywidget
import traitlets

from .. import __version__
from ..kernel import place
from ..kernel.connection import connection
from . import bundles


class Desk(anywidget.AnyWidget):
    """The applets of this notebook, a tab each. What an agent sets or loads comes to the front.

    Parameters
    ----------
    height
        Pixels, or a CSS length.
    """

    _esm = bundles.STATIC / "desk-loader.js"

    height = traitlets.Union([traitlets.Int(), traitlets.Unicode()], default_value=480).tag(sync=True)

    _session = traitlets.Unicode().tag(sync=True)
    _route = traitlets.Unicode().tag(sync=True)
    _version = traitlets.Unicode(__version__).tag(sync=True)

    window_id = ""
    """None of its own: it shows those of others."""

    def __init__(self, height: int | str = 480, **traits: Any) -> None:
        self._context = contextvars.copy_context()
        self._connection = connection()
        super().__init__(height=height, _session=place.session(), _route=self._connection.route, **traits)
        self.on_msg(_from_page)

    # ---- WindowOwner: its pages come over its comm where there is no server

    def open_window(self) -> None:
        pass

    def take_notice(self, notice: Any) -> None:
        pass

    def flush(self) -> None:
        pass

    def put_on_comm(self, content: dict[str, Any]) -> None:
        self._context.copy().run(self.send, content)


def _from_page(widget: Desk, content: Any, buffers: list[memoryview]) -> None:
    if not bundles.answer(widget.put_on_comm, content):
        widget._connection.on_comm(widget, content)
