"""Connection: one per process. It knows which link serves which window, and brings notices to the widgets."""

from __future__ import annotations

import logging
import threading
import weakref
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import AppletError, LinkLost
from ..link.base import Link, PendingCall
from ..protocol.base import Json
from ..protocol.link import ConsoleEntry, ConsoleLines, WindowReady
from ..protocol.sessions import Turn, TurnCancel
from . import place
from .acting import turn_id
from .agents import AgentDesk
from .cells import Cells
from .owner import WindowOwner
from .waiting import wait, wait_async

if TYPE_CHECKING:
    from .local import LocalHost

log = logging.getLogger("jupyter_applets")


class Connection:
    """Owns the links. Made at the first need; its methods are for any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._cells = Cells()
        self._owners: weakref.WeakValueDictionary[str, WindowOwner] = weakref.WeakValueDictionary()
        self._on_local: weakref.WeakSet[WindowOwner] = weakref.WeakSet()
        self._local: LocalHost | None = None
        self.agents = AgentDesk(self)
        self._server: Link | None = self._reach_server()

    @property
    def route(self) -> str:
        return "kernel" if self._server is None else "server"

    def local(self) -> LocalHost:
        """The host inside this kernel, made when it is first needed."""
        with self._lock:
            if self._local is None:
                from .local import LocalHost

                self._local = LocalHost(place.session(), place.kernel_id(), __version__, place.root())
                self._local.link.on_notice = self._on_local_notice
                if self._server is None:
                    self._open_windows()
                self.agents.announce(self._local.link)
            return self._local

    def add(self, owner: WindowOwner) -> None:
        """From now on this widget owns its window id in this kernel."""
        owner.open_window()
        self._owners[owner.window_id] = owner

    def owns(self, owner: WindowOwner) -> bool:
        return self._owners.get(owner.window_id) is owner

    def remove(self, owner: WindowOwner) -> None:
        if self.owns(owner):
            del self._owners[owner.window_id]
        self._on_local.discard(owner)

    def on_comm(self, widget: WindowOwner, content: Any) -> None:
        """A page speaks to us over a widget's comm: it could not reach the server, so this kernel is its host."""
        self._cells.page_spoke()
        local = self.local()
        if self._server is not None and widget not in self._on_local:
            self._on_local.add(widget)
            widget.open_window()
        local.on_comm(widget, content)

    def link(self, window_id: str) -> Link:
        if self._server is not None and self._owners.get(window_id) not in self._on_local:
            return self._server
        return self.local().link

    def links(self) -> list[Link]:
        """Every host that this kernel speaks with; where there is none yet, the one inside."""
        local = self._local.link if self._local is not None else None
        return [link for link in (self._server, local) if link is not None] or [self.local().link]

    def tell(self, window_id: str, name: str, arguments: dict[str, Json]) -> PendingCall | None:
        """Call without waiting for the reply. The host inside the kernel is not made for this: it gets the windows when
        it is made."""
        if self._server is None and self._local is None:
            return None
        pending = self.link(window_id).call(name, arguments, turn=turn_id())
        pending.add_done_callback(_log_refusal)
        return pending

    def push(self, window_id: str, arguments: dict[str, Json]) -> PendingCall | None:
        """The same for a change of state, whose sender looks at the reply."""
        if self._server is None and self._local is None:
            return None
        return self.link(window_id).call("push_state", arguments, turn=turn_id())

    def check_blocking(self, window_id: str, instead: str) -> None:
        """Raise where nothing that a page says could arrive while this thread blocks."""
        if self.link(window_id) is not self._server:
            self._cells.check_blocking(instead)

    def call(
        self,
        window_id: str,
        name: str,
        arguments: dict[str, Json],
        timeout: float | None = None,
        instead: str | None = None,
    ) -> Json:
        """Call and block. `instead` is the awaiting form of a call that a page answers, where that cannot be done."""
        __tracebackhide__ = True
        if name == "send_message" and arguments.get("wait"):
            self.agents.check_blocking()
        link = self._ready_link(window_id)
        needs_page = link is not self._server and instead is not None
        if needs_page:
            self._cells.check_blocking(instead or "")
        pending = link.call(name, arguments, timeout, turn_id())
        try:
            value = wait(link, pending, timeout)
        except AppletError as e:
            raise self._cells.explain(e) if needs_page else e from None
        self._tell_note(window_id, pending.note)
        return value

    async def acall(
        self,
        window_id: str,
        name: str,
        arguments: dict[str, Json],
        timeout: float | None = None,
        *,
        page: bool = True,
    ) -> Json:
        """Call and await. `page` says that a page has to answer, which not every kernel lets it do in a cell."""
        link = self._ready_link(window_id)
        if link is not self._server and page:
            self._cells.check_await()
        pending = link.call(name, arguments, timeout, turn_id())
        try:
            value = await wait_async(link, pending, timeout)
        except AppletError as e:
            raise self._cells.explain(e) if link is not self._server else e from None
        self._tell_note(window_id, pending.note)
        return value

    def _ready_link(self, window_id: str) -> Link:
        """The link, with what was pushed before the call sent before it."""
        owner = self._owners.get(window_id)
        if owner is not None:
            owner.flush()
        return self.link(window_id)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._local is not None:
            self._local.close()

    def _reach_server(self) -> Link | None:
        server = place.server()
        if server is None:
            return None
        from ..link.socket import SocketLink

        link = SocketLink(
            server.url,
            server.secret,
            session=place.session(),
            kernel=place.kernel_id(),
            version=__version__,
            certificate=server.certificate,
        )
        link.on_notice = self._on_server_notice
        link.on_welcome = lambda: self._welcomed(link)
        return link

    def _welcomed(self, link: Link) -> None:
        """Perhaps a new host: it must know our windows, and who answers here."""
        self._open_windows()
        self.agents.announce(link)

    def _open_windows(self) -> None:
        for owner in list(self._owners.values()):
            try:
                owner.open_window()
            except AppletError as e:
                log.warning("window %r could not be given to the host: %s", owner.window_id, e)

    def _on_notice(self, notice: Any) -> None:
        owner = self._owners.get(getattr(notice, "window_id", ""))
        if owner is not None:
            owner.take_notice(notice)

    def _on_local_notice(self, notice: Any) -> None:
        if isinstance(notice, Turn | TurnCancel):
            self.agents.hear(self.local().link, notice)
        else:
            self._on_notice(notice)

    def _on_server_notice(self, notice: Any) -> None:
        if isinstance(notice, Turn | TurnCancel) and self._server is not None:
            self.agents.hear(self._server, notice)
            return
        owner = self._owners.get(getattr(notice, "window_id", ""))
        if owner is not None and isinstance(notice, WindowReady):
            # A page reaches the server after all: from now on that is the way.
            self._on_local.discard(owner)
        self._on_notice(notice)

    def _tell_note(self, window_id: str, note: str | None) -> None:
        """How an answer came about, where the author of the call looks: in the applet's logs."""
        if note is not None:
            self._on_notice(ConsoleLines(window_id, [ConsoleEntry("info", [f"[host] {note}"], 0.0)]))


def _log_refusal(done: Any) -> None:
    if not done.cancelled() and (error := done.exception()) is not None and not isinstance(error, LinkLost):
        log.warning("the host refused: %s", error)


_connection: Connection | None = None
_making = threading.Lock()


def connection() -> Connection:
    """This process's connection."""
    global _connection  # noqa: PLW0603 (one per process, made once, under the lock)
    with _making:
        if _connection is None:
            _connection = Connection()
        return _connection
