"""The state of one window: keys and values, merged, never replaced as a whole. Each change has a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ..errors import TooLarge
from ..protocol.base import Json
from ..protocol.channel import MAX_STATE_BYTES, RESERVED


class Stamp(NamedTuple):
    """When a key last changed, by which view alone (None: every view is to be told), and how large it is."""

    rev: int
    by: str | None
    size: int


class WindowState:
    """The values, and the number of the last change."""

    def __init__(self) -> None:
        self.values: dict[str, Json] = {}
        self.rev = 0
        self._stamps: dict[str, Stamp] = {}

    def shown(self) -> dict[str, Json]:
        """What applets, kernels and agents may see."""
        return {key: value for key, value in self.values.items() if key not in RESERVED}

    def clear(self) -> None:
        """The number goes on: what is said of the old state must not be taken for the new."""
        if self.values:
            self.rev += 1
        self.values = {}
        self._stamps = {}

    def merge(self, data: Mapping[str, Json], view: str | None = None, seen: int = 0) -> dict[str, Json]:
        """Take these keys over; gives those that really changed. Raises TooLarge, and then none was taken.

        `view` is the one that sets them, which has `seen` the changes up to that number.
        """
        sizes = _sizes(data)
        _check_size(sum(stamp.size for key, stamp in self._stamps.items() if key not in sizes) + sum(sizes.values()))
        changed = {key: value for key, value in data.items() if not self._holds(key, value)}
        crossed = {key for key in data if view is not None and self._crosses(key, view, seen)}
        if changed or crossed:
            self.rev += 1
        for key in {**changed, **dict.fromkeys(crossed)}:
            self.values[key] = data[key]
            self._stamps[key] = Stamp(self.rev, None if key in crossed else view, sizes[key])
        return changed

    def since(self, rev: int, view: str) -> dict[str, Json]:
        """What a view has to be told that knows everything up to `rev`."""
        return {key: self.values[key] for key, stamp in self._stamps.items() if stamp.rev > rev and stamp.by != view}

    def _crosses(self, key: str, view: str, seen: int) -> bool:
        """Another's change of the key is on its way to the view that now sets it: it must be told what stands here."""
        before = self._stamps.get(key)
        return before is not None and before.rev > seen and before.by != view

    def _holds(self, key: str, value: Json) -> bool:
        if key not in self.values:
            return False
        held = self.values[key]
        # As JSON: to Python, 1 and True are equal, inside a list too.
        return type(held) is type(value) and held == value and msgspec.json.encode(held) == msgspec.json.encode(value)


def check(data: Mapping[str, Json]) -> None:
    """Raise TooLarge where a fresh state could not take this over."""
    _check_size(sum(_sizes(data).values()))


def _sizes(data: Mapping[str, Json]) -> dict[str, int]:
    return {key: len(msgspec.json.encode(value)) for key, value in data.items()}


def _check_size(total: int) -> None:
    if total > MAX_STATE_BYTES:
        raise TooLarge(f"The state would be {total / 1e6:.1f} MB as JSON; the limit is {MAX_STATE_BYTES / 1e6:.1f} MB.")
