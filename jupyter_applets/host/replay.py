"""The command log of a window: what a fresh document is given so that the applet is as it was.

Only commands that succeeded are recorded. A snapshot covers the commands up to its `seq`; the covered ones are kept,
while there is room, for a document that does not hydrate.
"""

from __future__ import annotations

from bisect import insort
from typing import TypeAlias

import msgspec

from ..protocol.app import AppManifest, CommandAsk, HydrateAsk
from ..protocol.base import Json

MAX_COMMANDS = 1_000
MAX_BYTES = 4 * 1024 * 1024


class Entry(msgspec.Struct, frozen=True):
    """A recorded command. `seq` is its place among the window's requests, `index` the order of recording."""

    seq: int
    index: int
    command: str
    params: Json
    ran_on: tuple[str, int]
    """The view and document that ran it, which must not get it again."""
    size: int


Step: TypeAlias = Entry | HydrateAsk


class StateSnapshot(msgspec.Struct, frozen=True):
    state: dict[str, Json]
    seq: int


class CommandLog:
    """The successful commands of one window in the order they were asked for, bounded, and the newest snapshot."""

    def __init__(self, max_commands: int = MAX_COMMANDS, max_bytes: int = MAX_BYTES) -> None:
        self.entries: list[Entry] = []
        self.snapshot: StateSnapshot | None = None
        self.index = 0
        self.lost = 0
        """Commands that were dropped without a snapshot to cover them: a reload cannot bring these back."""
        self._bytes = 0
        self._max_commands = max_commands
        self._max_bytes = max_bytes

    def clear(self) -> None:
        self.entries.clear()
        self.snapshot = None
        self.lost = 0
        self._bytes = 0

    def record(self, seq: int, ask: CommandAsk, manifest: AppManifest | None, ran_on: tuple[str, int]) -> Entry | None:
        """Keep a command that succeeded; None when the applet does not want it replayed."""
        policy = manifest.replay_of(ask.command) if manifest else "always"
        if policy == "never":
            return None
        if policy == "last":
            self._drop([e for e in self.entries if e.command == ask.command and e.seq <= seq])
        self.index += 1
        size = len(msgspec.json.encode(ask.params)) if ask.params is not msgspec.UNSET else 0
        entry = Entry(seq, self.index, ask.command, ask.params, ran_on, size)
        insort(self.entries, entry, key=lambda e: e.seq)
        self._bytes += size
        self._compact()
        return entry

    def take_snapshot(self, state: dict[str, Json], seq: int) -> None:
        if self.snapshot is None or seq >= self.snapshot.seq:
            self.snapshot = StateSnapshot(state, seq)

    def steps(self, hydrates: bool) -> list[Step]:
        """What a fresh document needs, in order."""
        if hydrates and self.snapshot is not None:
            covered = self.snapshot.seq
            return [HydrateAsk(self.snapshot.state), *(e for e in self.entries if e.seq > covered)]
        return list(self.entries)

    def since(self, index: int, view: tuple[str, int]) -> list[Step]:
        """What a document that was cut off after `index` has missed."""
        return [e for e in self.entries if e.index > index and e.ran_on != view]

    def _compact(self) -> None:
        while len(self.entries) > self._max_commands or (self._bytes > self._max_bytes and len(self.entries) > 1):
            covered = self.snapshot is not None and self.entries[0].seq <= self.snapshot.seq
            self.lost += not covered
            self._drop(self.entries[:1])

    def _drop(self, gone: list[Entry]) -> None:
        for entry in gone:
            self.entries.remove(entry)
            self._bytes -= entry.size
