"""MemoryLink: a link to a host in the same process, whose driver runs on another thread's loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..protocol.frames import Codec
from ..protocol.link import FromKernel
from .base import Link

_codec: Codec[FromKernel] = Codec(FromKernel)


class Receiver(Protocol):
    """The part of a host's driver that a link needs; its methods are for the loop's own thread."""

    def connect(self, peer: str, role: Any, session: str, sink: Callable[[list[Any]], None]) -> None: ...

    def receive(self, peer: str, messages: Any) -> None: ...


class MemoryLink(Link):
    """`call_soon` runs a function on the host's thread."""

    def __init__(self, receiver: Receiver, call_soon: Callable[..., None], session: str, kernel: str) -> None:
        super().__init__(session, kernel)
        self._receiver = receiver
        self._call_soon = call_soon
        self._peer = f"kernel-{kernel}"
        call_soon(receiver.connect, self._peer, "kernel", session, self._deliver)

    def _wake(self) -> None:
        self._call_soon(self._flush)

    def _flush(self) -> None:
        for frame in self._take_queue():
            self._receiver.receive(self._peer, _codec.decode(frame))
