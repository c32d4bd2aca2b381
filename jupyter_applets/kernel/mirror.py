"""State: a window's state as the kernel sees it, and the pushes that are on their way to it.

However fast a loop pushes, one push is under way at a time; what came meanwhile goes as the next one. So the last value
of every key arrives, and nothing is dropped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from typing import Any

import msgspec

from ..errors import AppletError, InvalidArguments, LinkLost, TooLarge
from ..link.base import PendingCall
from ..protocol.base import Json
from ..protocol.channel import MAX_STATE_BYTES, RESERVED


class State(Mapping[str, Json]):
    """A live mapping: it shows what the applet set, and what was pushed to it. It changes by itself; `app.push` sets.

    `changed` is called, on the link's thread, with the keys that others changed; `send` starts a push; `failed` is told
    what became of one that was refused.
    """

    def __init__(
        self,
        send: Callable[[dict[str, Json]], PendingCall | None],
        changed: Callable[[dict[str, Json]], None],
        failed: Callable[[AppletError], None],
    ) -> None:
        self._values: dict[str, Json] = {}
        self._send = send
        self._changed = changed
        self._failed = failed
        self._news = threading.Condition(threading.RLock())
        self._sending = threading.Lock()
        """Held from the taking of a batch to its sending: of two threads the later must not be overtaken."""
        self._waiting: dict[str, msgspec.Raw] = {}
        self._sent: dict[str, msgspec.Raw] = {}

    def __getitem__(self, key: str) -> Json:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align:left"><code>{escape(key)}</code></td>'
            f'<td style="text-align:left">{escape(_short(value))}</td></tr>'
            for key, value in dict(self._values).items()
        )
        return f"<table>{rows}</table>" if rows else "<em>(no state yet)</em>"

    # ---- what others say

    def replace(self, values: Mapping[str, Json]) -> None:
        """The host tells the whole state. What is still on its way there comes later, and stands."""
        with self._news:
            before = self._values
            mine = {key: before[key] for key in (*self._sent, *self._waiting) if key in before}
            self._values = {**values, **mine}
            news = {k: v for k, v in values.items() if k not in mine and not (k in before and _same(v, before[k]))}
            self._news.notify_all()
        if news:
            self._changed(news)

    def take(self, data: Mapping[str, Json]) -> None:
        """Others changed these keys. One of them that is on its way from here reaches the host after that change."""
        with self._news:
            news = {k: v for k, v in data.items() if k not in self._sent and k not in self._waiting}
            self._values = {**self._values, **news}
            self._news.notify_all()
        if news:
            self._changed(news)

    def clear(self) -> None:
        with self._news:
            self._values = {}
            self._waiting = {}
            self._sent = {}
            self._news.notify_all()

    # ---- pushing

    def push(self, data: Mapping[str, Json]) -> None:
        """Have these keys merged into the state, soon. What cannot be sent raises here."""
        encoded = {key: _encode(key, value) for key, value in data.items()}
        # As the applet will see it, and not to be changed by whoever pushed it.
        values = {key: _as_json(value, encoded[key]) for key, value in data.items()}
        with self._news:
            self._values = {**self._values, **values}
            self._waiting = {**self._waiting, **encoded}
            idle = not self._sent
            self._news.notify_all()
        if idle:
            self.flush()

    def flush(self) -> None:
        """Send what waits, now: another call is about to be made, and must find it there."""
        with self._sending:
            with self._news:
                if not self._waiting:
                    return
                batch, self._waiting = self._waiting, {}
                self._sent = {**self._sent, **batch}
            refused, pending = None, None
            try:
                pending = self._send(dict(batch))
            except AppletError as e:
                refused = e
        if pending is not None:
            pending.add_done_callback(lambda done: self._answered(batch, done))
            return
        with self._news:
            self._forget(batch)
        if refused is not None:
            self._failed(refused)

    def _answered(self, batch: dict[str, msgspec.Raw], done: Any) -> None:
        error = None if done.cancelled() else done.exception()
        with self._news:
            if isinstance(error, LinkLost):
                # It may not have arrived. What was sent or pushed after it stays newer.
                lost = {key: raw for key, raw in batch.items() if self._sent.get(key) is raw}
                self._waiting = {**lost, **self._waiting}
            self._forget(batch)
        if isinstance(error, LinkLost):
            return  # it is sent when the link is there again, and the window with it
        if isinstance(error, AppletError):
            self._failed(error)
        self.flush()

    def _forget(self, batch: dict[str, msgspec.Raw]) -> None:
        self._sent = {key: raw for key, raw in self._sent.items() if batch.get(key) is not raw}

    # ---- waiting

    def wait_for(self, key: str, predicate: Callable[[Json], Any] | None, timeout: float | None) -> tuple[Json, ...]:
        """Block until the key is there and, if given, `predicate(value)` holds; nothing when it was not in time."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            values = self._values
            # Without the lock: a predicate may ask the applet something, and the answer needs the link's thread.
            if found := self.holding(key, predicate):
                return found
            with self._news:
                left = None if deadline is None else deadline - time.monotonic()
                if not self._news.wait_for(partial(self._differs, values), left):
                    return ()

    def _differs(self, values: dict[str, Json]) -> bool:
        return self._values is not values

    def holding(self, key: str, predicate: Callable[[Json], Any] | None) -> tuple[Json, ...]:
        """The value, if it is there and as asked for."""
        values = self._values
        found = key in values and (predicate is None or predicate(values[key]))
        return (values[key],) if found else ()


def _encode(key: str, value: Json) -> msgspec.Raw:
    """Now: what waits may be changed by its owner meanwhile."""
    if key in RESERVED:
        raise InvalidArguments(f"The state key {key!r} is reserved: choose another name.")
    try:
        text = msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as e:
        raise InvalidArguments(f"{key!r} cannot be pushed: {e}") from e
    if len(text) > MAX_STATE_BYTES:
        raise TooLarge(
            f"{key!r} is {len(text) / 1e6:.1f} MB as JSON; a whole state may have {MAX_STATE_BYTES / 1e6:.1f} MB."
        )
    return msgspec.Raw(text)


def _as_json(value: Json, encoded: msgspec.Raw) -> Json:
    return value if value is None or type(value) in (str, int, bool) else msgspec.json.decode(encoded)


def _same(one: Json, other: Json) -> bool:
    # To Python, 1 and True are equal.
    return type(one) is type(other) and one == other


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
