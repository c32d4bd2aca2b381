"""Link: makes calls on a host and hands out its notices. What carries the messages is a sibling's business."""

from __future__ import annotations

import itertools
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from ..errors import AppletError, InvalidArguments, LinkLost, TooLarge, from_wire
from ..protocol.base import MAX_MESSAGE_BYTES, Json
from ..protocol.frames import encode, join
from ..protocol.link import Call, Cancel, ErrorReply, Result, ToKernel, Welcome

log = logging.getLogger("jupyter_applets.link")


MAX_TIMEOUT = 1_000_000.0


class PendingCall(Future[Json]):
    """The future of one call; `note` is set when the host has something to say of how the answer came about."""

    def __init__(self, call: str) -> None:
        super().__init__()
        self.call = call
        self.note: str | None = None


class Link(ABC):
    """One kernel's way to a host. `call` may be used from any thread; replies come on the link's own.

    A sibling implements `_wake` (there is something in the queue) and feeds `_deliver`.
    """

    def __init__(self, session: str, kernel: str) -> None:
        self.session = session
        self.kernel = kernel
        self.on_welcome: Callable[[], None] = lambda: None
        self.on_notice: Callable[[Any], None] = lambda notice: None
        self.refused: AppletError | None = None
        self._lock = threading.Lock()
        self._max_message_bytes = MAX_MESSAGE_BYTES
        self._queue: list[tuple[str, bytes]] = []
        self._pending: dict[str, PendingCall] = {}
        self._ids = itertools.count(1)

    def call(
        self, name: str, arguments: dict[str, Json], timeout: float | None = None, turn: str | None = None
    ) -> PendingCall:
        """Start a call. Its future gets the one reply, or LinkLost. What cannot be sent at all raises here."""
        if timeout is not None and not 0 <= timeout <= MAX_TIMEOUT:
            raise InvalidArguments(f"A timeout is given in seconds, from 0 to {MAX_TIMEOUT:,.0f}, not {timeout!r}.")
        pending = PendingCall(f"c{next(self._ids)}")
        text = self._encode(Call(pending.call, name, arguments, None if timeout is None else timeout * 1000, turn))
        with self._lock:
            if self.refused is not None:
                pending.set_exception(self.refused)
                return pending
            self._pending[pending.call] = pending
            first = not self._queue
            self._queue.append((pending.call, text))
        if first:
            self._wake()
        return pending

    def post(self, message: Any) -> None:
        """Say something that has no reply."""
        text = encode(message)
        with self._lock:
            if self.refused is not None:
                return
            first = not self._queue
            self._queue.append(("", text))
        if first:
            self._wake()

    def cancel(self, pending: PendingCall) -> None:
        """Give up a call: its future is cancelled now, the host is told."""
        with self._lock:
            if self._pending.pop(pending.call, None) is None:
                return
            first = not self._queue
            self._queue.append((pending.call, encode(Cancel(pending.call))))
        pending.cancel()
        if first:
            self._wake()

    def close(self) -> None:
        self.refused = LinkLost("The link to the host was closed.")
        self._fail_all(self.refused)

    @abstractmethod
    def _wake(self) -> None:
        """Something was put into the queue that was empty: have it sent."""

    def _encode(self, call: Call) -> bytes:
        """On the caller's thread, where what is wrong can be told, and where it spoils no other call's frame."""
        try:
            text = encode(call)
        except (TypeError, ValueError, OverflowError, RecursionError) as e:
            raise InvalidArguments(f"The arguments of {call.name} cannot be sent as JSON: {e}") from e
        if len(text) > self._max_message_bytes:
            raise TooLarge(
                f"The call is {len(text) / 1e6:.1f} MB as JSON; the limit is {self._max_message_bytes / 1e6:.1f} MB "
                "(JupyterApplets.max_message_bytes)."
            )
        return text

    def _take_queue(self) -> list[bytes]:
        """What is to be sent, as frames of which none is over the limit."""
        with self._lock:
            queue, self._queue = self._queue, []
        return join([text for _, text in queue], self._max_message_bytes)

    def _deliver(self, messages: Sequence[ToKernel | Any]) -> None:
        for message in messages:
            match message:
                case Result(id=call, value=value, note=note):
                    pending = self._pop(call)
                    if pending is not None:
                        pending.note = note
                        pending.set_result(value)
                case ErrorReply(id=None) as error:
                    self._refuse(from_wire(error.code, error.message, error.names))
                case ErrorReply(id=str(call)) as error:
                    self._fail_one(call, from_wire(error.code, error.message, error.names))
                case Welcome(max_message_bytes=limit):
                    self._max_message_bytes = limit
                    self.refused = None
                    self._guarded(self.on_welcome)
                case _:
                    self._guarded(self.on_notice, message)

    def _pop(self, call: str) -> PendingCall | None:
        with self._lock:
            pending = self._pending.pop(call, None)
        # A future that its waiter cancelled in the same moment takes no result.
        return pending if pending is not None and pending.set_running_or_notify_cancel() else None

    def _refuse(self, error: AppletError) -> None:
        if error.code == "PROTOCOL_MISMATCH":
            self.refused = error
            self._fail_all(error)
        else:
            log.warning("the host refused a message: %s", error.message)

    def _fail_one(self, call: str, error: AppletError) -> None:
        pending = self._pop(call)
        if pending is not None:
            pending.set_exception(error)

    def _fail_all(self, error: AppletError, *, only_sent: bool = False) -> None:
        with self._lock:
            unsent = {call for call, _ in self._queue} if only_sent else set()
            if not only_sent:
                self._queue.clear()
            lost = [self._pending.pop(call) for call in list(self._pending) if call not in unsent]
        for pending in lost:
            if pending.set_running_or_notify_cancel():
                pending.set_exception(error)

    def _guarded(self, function: Callable[..., None], *args: Any) -> None:
        try:
            function(*args)
        except Exception:
            log.exception("a listener failed")
