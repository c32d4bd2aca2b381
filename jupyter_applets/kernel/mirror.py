"""State: a window's state as the kernel sees it, and the pushes that are on their way to it.

However fast a loop pushes, one push is under way at a time; what came meanwhile goes as the next one. So the last value
of every key arrives, and nothing is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

import msgspec

from ..errors import AppletError, InvalidArguments, LinkLost
from ..link.base import PendingCall
from ..protocol.base import Json


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
            mine = {key: self._values[key] for key in (*self._sent, *self._waiting) if key in self._values}
            self._values = {**values, **mine}
            self._news.notify_all()

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
            self._news.notify_all()

    # ---- pushing

    def push(self, data: Mapping[str, Json]) -> None:
        """Have these keys merged into the state, soon. What cannot be sent raises here."""
        encoded = {key: _encode(key, value) for key, value in data.items()}
        with self._news:
            self._values = {**self._values, **data}
            self._waiting |= encoded
            idle = not self._sent
        if idle:
            self.flush()

    def flush(self) -> None:
        """Send what waits, now: another call is about to be made, and must find it there."""
        with self._news:
            if not self._waiting:
                return
            batch, self._waiting = self._waiting, {}
            self._sent = {**self._sent, **batch}
        pending = self._send(dict(batch))
        if pending is None:
            with self._news:
                self._forget(batch)
        else:
            pending.add_done_callback(lambda done: self._answered(batch, done))

    def _answered(self, batch: dict[str, msgspec.Raw], done: Any) -> None:
        error = None if done.cancelled() else done.exception()
        with self._news:
            self._forget(batch)
            if isinstance(error, LinkLost):
                # It may not have arrived. What is newer stays newer.
                self._waiting = {**batch, **self._waiting}
        if isinstance(error, AppletError) and not isinstance(error, LinkLost):
            self._failed(error)
        self.flush()

    def _forget(self, batch: dict[str, msgspec.Raw]) -> None:
        self._sent = {key: raw for key, raw in self._sent.items() if batch.get(key) is not raw}

    # ---- waiting

    def wait_for(self, key: str, predicate: Callable[[Json], Any] | None, timeout: float | None) -> bool:
        """Block until the key is there and, if given, `predicate(value)` holds; False when it was not in time."""
        with self._news:
            return self._news.wait_for(lambda: self.holds(key, predicate), timeout)

    def holds(self, key: str, predicate: Callable[[Json], Any] | None) -> bool:
        values = self._values
        return key in values and (predicate is None or bool(predicate(values[key])))


def _encode(key: str, value: Json) -> msgspec.Raw:
    """Now: what waits may be changed by its owner meanwhile."""
    try:
        return msgspec.Raw(msgspec.json.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError) as e:
        raise InvalidArguments(f"{key!r} cannot be pushed: {e}") from e


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
