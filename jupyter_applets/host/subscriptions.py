"""Who is to be told when a file changes. Paths are given by each subscriber in its own way, and watched in one."""

from __future__ import annotations

from typing import NamedTuple

from .effects import Effect, Unwatch, Watch


class Subscriber(NamedTuple):
    peer: str
    window_id: str | None
    given: str
    """The path as it was asked for, and as it is told of."""


class Subscriptions:
    """Subscribers by the path they mean, which is relative to the root."""

    def __init__(self) -> None:
        self._by_path: dict[str, set[Subscriber]] = {}

    def add(self, path: str, subscriber: Subscriber) -> list[Effect]:
        there = self._by_path.setdefault(path, set())
        first = not there
        there.add(subscriber)
        return [Watch(path)] if first else []

    def remove(self, subscriber: Subscriber) -> list[Effect]:
        return [effect for path in list(self._by_path) for effect in self._discard(path, {subscriber})]

    def drop(self, peer: str, window_id: str | None = None) -> list[Effect]:
        """A peer has gone, or, with a window, its document."""
        gone = {
            subscriber
            for there in self._by_path.values()
            for subscriber in there
            if subscriber.peer == peer and window_id in (None, subscriber.window_id)
        }
        return [effect for path in list(self._by_path) for effect in self._discard(path, gone)]

    def give_up(self, path: str) -> set[Subscriber]:
        """The path is not watched after all: those who subscribed to it."""
        return self._by_path.pop(path, set())

    def count(self, peer: str, window_id: str | None) -> int:
        return sum(s.peer == peer and s.window_id == window_id for there in self._by_path.values() for s in there)

    def told(self, path: str) -> list[tuple[Subscriber, str]]:
        """Who hears of a change at `path`, and by which name: subscribers of a folder hear of what is in it."""
        found = [(subscriber, subscriber.given) for subscriber in self._by_path.get(path, ())]
        folder, _, name = path.rpartition("/")
        if not name:
            return found  # the root, which is in no folder
        for subscriber in self._by_path.get(folder, ()):
            if subscriber.window_id is not None and name == "state.json":
                continue  # it may be another applet's, of which one hears nothing
            base = subscriber.given.rstrip("/")
            found.append((subscriber, f"{base}/{name}" if base not in ("", ".") else name))
        return found

    def _discard(self, path: str, gone: set[Subscriber]) -> list[Effect]:
        there = self._by_path[path]
        if not there & gone:
            return []
        there -= gone
        if there:
            return []
        del self._by_path[path]
        return [Unwatch(path)]
