"""What there is to measure: for each figure ours, the peer, the floor; and what is to be reached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator

from . import chats, storage, transfers
from .figures import Contender, Target
from .stage import ROOT, Kind, Stage

FIGURES = "abcdefghijklm"
CALLS = 300
PEER_CALLS = 100
PIPELINED = 1_000
STARTS = 5

COMMAND = "blocking app.command"
QUERY = "blocking app.query"
STOCK = "anywidget, awaiting, stock server"
OURS = "anywidget, awaiting, our server"
NODELAY = "anywidget, awaiting, our server without Nagle"
FLOOR = "floor: bare sockets, one frame"
MANY = "1,000 commands at once"
APPLET_FIRST = "cell to applet ready, fresh kernel"
APPLET = "cell to applet ready"
PEER = "cell to bare anywidget's first message"
PEER_FRAME = "cell to bare anywidget's frame loaded"
IMPORT = "import and first Applet()"
IMPORT_BARE = "import and first bare AnyWidget"
IMPORT_KERNEL = "the same where a kernel and a server are"
IMPORT_KERNEL_BARE = "the same bare where a kernel is"

TARGETS = [
    *(Target(ours, peer, most=0.4) for peer in (STOCK, OURS) for ours in (COMMAND, QUERY)),
    # With our opt-in setting, which helps every widget on the server: told, not asked for.
    *(Target(ours, NODELAY) for ours in (COMMAND, QUERY)),
    Target(COMMAND, FLOOR, most=1.3),
    Target(QUERY, FLOOR, most=1.3),
    Target(MANY, least=5_000),
    Target(APPLET, PEER),
    Target(APPLET, PEER_FRAME),
    Target(IMPORT, IMPORT_BARE, most=1.4),
    Target(IMPORT_KERNEL, IMPORT_KERNEL_BARE),
    *transfers.TARGETS,
    *storage.TARGETS,
    *chats.TARGETS,
]

_USE = "from tests.bench.kernel import *; from tests.bench.peer import Peer"
_APPLET = f"{_USE}\napp = bench_applet(); display(app); app.query('count')"
_PEER = f"{_USE}\npeer = Peer(); display(peer); await peer.loaded"


def contenders(stage: Stage, wanted: Collection[str]) -> Iterator[Contender]:
    if "a" in wanted or "d" in wanted:
        cells = [
            _APPLET,
            f"blocking(lambda: app.command('add'), {CALLS})",
            f"blocking(lambda: app.query('count'), {CALLS})",
            f"await pipelined(lambda: app.acommand('add'), {PIPELINED}, 5)",
        ]
        notebook = stage.notebook("ours", cells)
        notebook.run_cell(0)
        if "a" in wanted:
            yield Contender("a", COMMAND, lambda: notebook.measure(1))
            yield Contender("a", QUERY, lambda: notebook.measure(2))
        if "d" in wanted:
            yield Contender("d", MANY, lambda: notebook.measure(3), per=PIPELINED)
    if "c" in wanted:
        address = stage.floor()
        yield Contender("c", FLOOR, lambda: _python("-m", "tests.bench.floor", "client", address, str(CALLS)))
    if "b" in wanted:
        yield Contender("b", STOCK, _peer(stage, "stock"))
        yield Contender("b", OURS, _peer(stage, "ours"))
        yield Contender("b", NODELAY, _peer(stage, "ours without Nagle"))
    if "e" in wanted:
        yield from _starts(stage)
    if "f" in wanted:
        yield from _imports()
    if "g" in wanted:
        yield from transfers.contenders(stage)
    if set(storage.FIGURES) & set(wanted):
        yield from storage.contenders(stage.folder(), wanted)
    if set(chats.FIGURES) & set(wanted):
        yield from chats.contenders(stage, wanted)


def _peer(stage: Stage, kind: Kind) -> Callable[[], list[float]]:
    notebook = stage.notebook(kind, [_PEER, f"await awaiting(peer.ask, {PEER_CALLS})"])
    notebook.run_cell(0)
    return lambda: notebook.measure(1)


def _starts(stage: Stage) -> Iterator[Contender]:
    began = "import time; began = time.perf_counter()"
    ours = stage.notebook("ours", [f"{began}\n{_USE}\napplet_ready(began)"])
    peer = stage.notebook("ours", [_USE, f"{began}\nawait peer_ready(began)"])
    peer.run_cell(0)

    def fresh() -> list[float]:
        ours.restart_kernel()
        return ours.measure(0)

    loaded: list[float] = []

    def rendered() -> list[float]:
        rounds = [peer.measure(1) for _ in range(STARTS)]
        loaded[:] = [second for _, second in rounds]
        return [first for first, _ in rounds]

    yield Contender("e", APPLET_FIRST, fresh)
    yield Contender("e", APPLET, lambda: [ours.measure(0)[0] for _ in range(STARTS)])
    yield Contender("e", PEER, rendered)
    yield Contender("e", PEER_FRAME, lambda: list(loaded))


def _imports() -> Iterator[Contender]:
    applet = "import jupyter_applets; jupyter_applets.Applet()"
    bare = "import anywidget; type('Bare', (anywidget.AnyWidget,), {'_esm': 'export default {}'})()"
    # A kernel has loaded much already, and its first Applet() starts the link.
    link = {"JUPYTER_APPLETS_URL": "http://127.0.0.1:9/", "JUPYTER_APPLETS_TOKEN": "none"}
    kernel = "import ipykernel.kernelapp, ipykernel.ipkernel"
    for name, before, code, env in [
        (IMPORT, "", applet, {}),
        (IMPORT_BARE, "", bare, {}),
        (IMPORT_KERNEL, kernel, applet, link),
        (IMPORT_KERNEL_BARE, kernel, bare, {}),
    ]:
        timed = f"{before}\nimport time; began = time.perf_counter(); {code}; print([time.perf_counter() - began])"
        yield Contender("f", name, lambda timed=timed, env=env: [_python("-c", timed, **env)[0] for _ in range(STARTS)])


def _python(*args: str, **env: str) -> list[float]:
    command = [sys.executable, *args]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, stdout=subprocess.PIPE, check=True, timeout=120)
    durations: list[float] = json.loads(done.stdout)
    return durations
