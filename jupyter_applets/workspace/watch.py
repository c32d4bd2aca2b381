"""Tells of changes at paths: what the system reports is a hint where to look, what is told is how the look differs.

So nothing is lost when the set of paths changes, or when the system's queue ran over: after that, everything is looked
at again. Folders are watched one by one: a recursive watch would follow links out of the root.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Literal

from ..errors import StorageFailed
from .atomic import TEMPORARY
from .audit import Actor
from .files import Workspace
from .looking import Looker, Seen

MAX_FOLDERS = 256
MAX_TREE_FOLDERS = 4096

_DEBOUNCE, _STEP = 50, 10
_MANY = 200
"""So many changes at once that some may have been dropped."""
_LOOK_ANYWAY = 30.0
_POLL = 0.5

Event = Literal["created", "modified", "deleted"]
OnChange = Callable[[str, Event], None]
_log = logging.getLogger(__name__)


class Watcher:
    """Owns the task that waits for the system's reports. Its methods are for the loop's own thread."""

    def __init__(self, workspace: Workspace, on_change: OnChange, *, polling: bool = False) -> None:
        self._workspace = workspace
        self._on_change = on_change
        self._polling = polling
        self._look = Looker(workspace)
        self._paths: Counter[str] = Counter()
        self._trees: Counter[str] = Counter()
        self._seen: Seen = {}
        self._again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def add(self, path: str, actor: Actor | None = None) -> None:
        """Tell of what happens to a file, or to what is directly in a folder, from now on. It need not be there yet."""
        name = self._name(path, actor)
        if name not in self._paths and len(self._folders([*self._paths, name])) > MAX_FOLDERS:
            raise StorageFailed(f"{path!r} is not watched: {MAX_FOLDERS} folders are watched already.")
        self._paths[name] += 1
        if self._paths[name] == 1:
            self._begin(self._look.path(name))

    def remove(self, path: str) -> None:
        self._drop(self._paths, self._name(path))

    def add_tree(self, path: str | None = None) -> None:
        """The same for all that is below a folder: the one of saved applets if no other is named."""
        name = "/".join(self._workspace.applets) if path is None else self._name(path)
        self._trees[name] += 1
        if self._trees[name] == 1:
            self._begin(self._look.tree(name))

    def remove_tree(self, path: str | None = None) -> None:
        self._drop(self._trees, "/".join(self._workspace.applets) if path is None else self._name(path))

    async def close(self) -> None:
        self._closing = True
        self._again.set()
        if self._task is not None:
            await self._task

    # ── what is watched ──────────────────────────────────────────────────────────────────────────────────────────────

    def _name(self, path: str, actor: Actor | None = None) -> str:
        if actor is not None:
            return self._workspace.watchable(path, actor)
        return "/".join(self._workspace.check(path, Actor("user")))

    def _begin(self, found: Seen) -> None:
        self._seen = {**found, **self._seen}
        self._again.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def _drop(self, counted: Counter[str], name: str) -> None:
        if counted[name] > 1:
            counted[name] -= 1
            return
        del counted[name]
        self._seen = {seen: signature for seen, signature in self._seen.items() if self._is_watched(seen)}
        self._again.set()

    def _is_watched(self, name: str) -> bool:
        above = name.rpartition("/")[0]
        return name in self._paths or (name != "" and above in self._paths) or self._is_in_tree(name)

    def _is_in_tree(self, name: str) -> bool:
        return any(tree in ("", name) or name.startswith(f"{tree}/") for tree in self._trees)

    def _folders(self, paths: Iterable[str]) -> set[str]:
        """The folders in which something may happen to these paths: their own and all above, which may be moved."""
        return {
            "/".join(parts[:depth])
            for parts in (PurePosixPath(path).parts for path in paths)
            for depth in range(len(parts) + 1)
            if depth < len(parts) or self._seen.get("/".join(parts), ()) is None or not parts
        }

    def _wanted(self) -> set[str]:
        """The folders that the system is to watch, those too that are not there yet."""
        names = self._folders([*self._paths, *self._trees])
        inside = [name for name, signature in self._seen.items() if signature is None and self._is_in_tree(name)]
        names.update(sorted(inside)[:MAX_TREE_FOLDERS])
        return names

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        while not self._closing:
            self._again = asyncio.Event()
            try:
                await (self._poll() if self._polling else self._listen())
            except FileNotFoundError:  # a folder went between the look and the watch
                continue
            except Exception as e:  # no inotify, or too many watches: the Rust side has its own errors too
                _log.warning("Files are watched by looking at them now and then, as the system does not tell: %s", e)
                self._polling = True

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        pause = _POLL
        while not self._again.is_set():
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._again.wait(), pause)
            began = loop.time()
            self._look_at_all()
            pause = max(_POLL, 20 * (loop.time() - began))

    async def _listen(self) -> None:
        from watchfiles import awatch

        wanted = self._wanted()
        armed = {path: name for name in sorted(wanted) if (path := self._look.folder(name)) is not None}
        if not armed:
            await self._again.wait()
            return
        loop = asyncio.get_running_loop()
        reports = awatch(
            *armed,
            watch_filter=None,
            debounce=_DEBOUNCE,
            step=_STEP,
            stop_event=self._again,
            rust_timeout=int(_LOOK_ANYWAY * 1000),
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        )
        # Its first step asks the system to watch. What happened before that shows in the look after it.
        waiting = asyncio.ensure_future(anext(reports, None))
        try:
            await asyncio.sleep(0)
            self._look_at_all()
            if self._wanted() != wanted:
                self._again.set()
            looked = loop.time()
            while (report := await waiting) is not None:
                waiting = asyncio.ensure_future(anext(reports, None))
                names = {name for _, path in report if (name := _name_of(path, armed)) is not None}
                if len(report) > _MANY or names & wanted or loop.time() - looked > _LOOK_ANYWAY:
                    self._look_at_all()
                    looked = loop.time()
                else:
                    for name in sorted(names):
                        self._look_at(name)
                if names & wanted or self._wanted() != wanted:
                    self._again.set()
        finally:
            self._again.set()
            await waiting
            await reports.aclose()

    def _look_at(self, name: str) -> None:
        if not self._is_watched(name):
            return
        found = self._look.tree(name) if self._is_in_tree(name) else self._look.one(name)
        known = {seen for seen in self._seen if seen == name or seen.startswith(f"{name}/")}
        self._compare(found, known)

    def _look_at_all(self) -> None:
        found: Seen = {}
        for name in self._paths:
            found.update(self._look.path(name))
        for name in self._trees:
            found.update(self._look.tree(name))
        self._compare(found, set(self._seen))

    def _compare(self, found: Seen, known: set[str]) -> None:
        events: list[tuple[str, Event]] = []
        for name in sorted(known | found.keys()):
            if name not in found:
                del self._seen[name]
                events.append((name, "deleted"))
            elif name not in self._seen:
                events.append((name, "created"))
            elif found[name] != self._seen[name]:
                events.append((name, "modified"))
        self._seen.update(found)
        for name, event in events:
            try:
                self._on_change(name, event)
            except Exception:
                _log.exception("A change of %s was told in vain.", name)


def _name_of(path: str, armed: dict[str, str]) -> str | None:
    """The name of what was reported: a watched folder itself, or something in one."""
    if path in armed:
        return armed[path]
    folder, _, last = path.rpartition("/")
    above = armed.get(folder or "/")
    if above is None or TEMPORARY.fullmatch(last):
        return None
    return f"{above}/{last}" if above else last
