"""Viewer: what a Desk and a Chat have in common: a widget of a session with no window of its own."""

from __future__ import annotations

import contextvars
from typing import Any

import anywidget
import traitlets

from .. import __version__
from ..kernel import place
from ..kernel.connection import connection
from . import bundles


class Viewer(anywidget.AnyWidget):
    """Owns its place on the page. Its pages come over its comm where there is no server."""

    height = traitlets.Union([traitlets.Int(), traitlets.Unicode()], default_value=480).tag(sync=True)

    _session = traitlets.Unicode().tag(sync=True)
    _route = traitlets.Unicode().tag(sync=True)
    _version = traitlets.Unicode(__version__).tag(sync=True)

    window_id = ""
    """None of its own: it shows those of others, or none."""

    def __init__(self, height: int | str, session: str | None = None, **traits: Any) -> None:
        self._context = contextvars.copy_context()
        self._connection = connection()
        super().__init__(height=height, _session=session or place.session(), _route=self._connection.route, **traits)
        self.on_msg(_from_page)

    # ---- WindowOwner

    def open_window(self) -> None:
        pass

    def take_notice(self, notice: Any) -> None:
        pass

    def flush(self) -> None:
        pass

    def put_on_comm(self, content: dict[str, Any]) -> None:
        self._context.copy().run(self.send, content)


def _from_page(widget: Viewer, content: Any, buffers: list[memoryview]) -> None:
    if not bundles.answer(widget.put_on_comm, content):
        widget._connection.on_comm(widget, content)
