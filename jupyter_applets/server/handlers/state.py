"""`api/applet/state`: the state of a window, for whoever has no socket."""

from __future__ import annotations

from tornado import web

from ...errors import InvalidArguments, WindowNotFound
from ...host import Host
from ...host.windows import Window
from ...protocol.base import Data, Json
from ...tools.windows import describe
from ..base import ApiHandler


class StateBody(Data, frozen=True):
    data: dict[str, Json] | None = None
    state: dict[str, Json] | None = None


class StateHandler(ApiHandler):
    @web.authenticated
    async def get(self) -> None:
        window = self._window()
        if window is None:
            self.answer({"state": {}, "windowId": None, "activeSlug": None, "appletTitle": None, "hasApplet": False})
        else:
            self.answer(describe(window, window.state.shown()))

    @web.authenticated
    async def post(self) -> None:
        """`{data: {…}}` is merged into the state, as `setState` does."""
        body = self.json_body(StateBody)
        data = body.data if body.data is not None else body.state
        if data is None:
            raise InvalidArguments('Give the keys to merge: {"data": {…}}.')
        window = self._window()
        if window is None:
            raise WindowNotFound(f"No window is open in session {self._session!r}.")

        def merge(host: Host) -> None:
            host.updates.merge(window, data)

        self.driver.apply(merge)
        self.answer({"ok": True, "rev": window.state.rev})

    @property
    def _session(self) -> str:
        return self.argument("session") or ""

    def _window(self) -> Window | None:
        return self.named_window() or self.driver.host.desks.meant(self._session)
