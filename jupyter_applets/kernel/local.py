"""The host inside the kernel, for front ends that cannot reach our server extension. Pages come over widgets' comms."""

from __future__ import annotations

import logging
import weakref
from typing import Any

from ..errors import AppletError
from ..host import Driver
from ..link.comm import CommPipe
from ..link.memory import MemoryLink
from ..link.thread import LoopThread
from ..protocol.frames import Codec
from ..protocol.link import FromPage
from ..tools import make_host
from ..tools.services import Services, watcher
from .owner import WindowOwner

log = logging.getLogger("jupyter_applets")

_codec: Codec[FromPage] = Codec(FromPage)


class LocalHost:
    """Owns the host's thread and the pages that came over comms. Its public methods are for any thread."""

    def __init__(self, session: str, kernel: str, version: str, root: str) -> None:
        self._thread = LoopThread("jupyter_applets-host")
        self._services = services = Services(root)
        self._driver = Driver(make_host(version), self._thread.loop, services, watcher(services))
        try:
            self._driver.host.decisions.all = services.decisions.load()
        except AppletError as e:
            # A folder that cannot be written to has applets too; people are asked again.
            log.warning("%s", e.message)
        self._pipes: weakref.WeakKeyDictionary[WindowOwner, dict[str, CommPipe]] = weakref.WeakKeyDictionary()
        self._met: weakref.WeakKeyDictionary[WindowOwner, set[str]] = weakref.WeakKeyDictionary()
        self._session = session
        self.link = MemoryLink(self._driver, self._thread.call_soon, session, kernel)

    def on_comm(self, widget: WindowOwner, content: Any) -> None:
        """A page's message arrived on a widget's comm, on whatever thread Jupyter chose."""
        if isinstance(content, dict) and isinstance(content.get("page"), str):
            self._thread.call_soon(self._receive, widget, content)

    def close(self) -> None:
        self.link.close()
        self._thread.finish(self._driver.close())
        self._thread.stop()
        self._services.close()

    def _receive(self, widget: WindowOwner, content: dict[str, Any]) -> None:
        page = content["page"]
        pipes = self._pipes.setdefault(widget, {})
        messages = content.get("messages")
        peer = _peer(widget, page)
        if isinstance(messages, list) and any(isinstance(m, dict) and m.get("type") == "hello" for m in messages):
            if page in pipes:
                pipes[page].restart()
            else:
                self._meet(widget, page, pipes)
                pipes[page] = CommPipe(page, widget.put_on_comm, self._thread.loop.call_later)
                self._driver.connect(peer, "page", self._session, pipes[page].put, pipes[page].drained)
        pipe = pipes.get(page)
        if pipe is None:
            return
        if content.get("kind") == "nack":
            expected = content.get("expected")
            pipe.resend(expected if isinstance(expected, int) else 1)
        else:
            self._driver.receive(peer, [_codec.convert(m) for m in pipe.accept(content)])

    def _meet(self, widget: WindowOwner, page: str, pipes: dict[str, CommPipe]) -> None:
        """A comm does not tell when a page goes: when a new one comes, the others must say hello again, if they can."""
        met = self._met.setdefault(widget, set())
        if page not in met:
            met.add(page)
            for other in list(pipes):
                del pipes[other]
                self._driver.disconnect(_peer(widget, other))
                widget.put_on_comm({"kind": "reset", "page": other})


def _peer(widget: WindowOwner, page: str) -> str:
    return f"page-{id(widget):x}-{page}"
