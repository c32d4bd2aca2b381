"""What is measured in a kernel: each function takes the durations of one round, in seconds."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from IPython.display import display

from jupyter_applets import Applet

from .peer import Peer

WARM_UP = 30

JS = """
  let count = 0;
  window.yaar.app.register({
    appId: 'bench',
    name: 'Bench',
    state: { count: { description: 'How often it was asked', handler: () => count } },
    commands: { add: { description: 'Counts', handler: () => ({ ok: true, count: ++count }) } },
  });
"""


def bench_applet(**traits: Any) -> Applet:
    return Applet(html="<p>Bench</p>", js=JS, height=60, **traits)


def blocking(call: Callable[[], Any], times: int) -> None:
    for _ in range(WARM_UP):
        call()
    durations = []
    for _ in range(times):
        began = perf_counter()
        call()
        durations.append(perf_counter() - began)
    report(durations)


async def awaiting(call: Callable[[], Awaitable[Any]], times: int) -> None:
    for _ in range(WARM_UP):
        await call()
    durations = []
    for _ in range(times):
        began = perf_counter()
        await call()
        durations.append(perf_counter() - began)
    report(durations)


async def pipelined(call: Callable[[], Awaitable[Any]], count: int, times: int) -> None:
    durations = []
    for _ in range(times):
        began = perf_counter()
        await asyncio.gather(*(call() for _ in range(count)))
        durations.append(perf_counter() - began)
    report(durations)


def applet_ready(began: float) -> None:
    """From the cell's start to the first answer."""
    app = bench_applet()
    display(app)
    app.query("count")
    report([perf_counter() - began])


async def peer_ready(began: float) -> None:
    """From the cell's start to the first message of the view, and to that of its frame."""
    peer = Peer()
    display(peer)
    rendered = await peer.rendered - began
    loaded = await peer.loaded - began
    report([rendered, loaded])


def report(durations: list[float]) -> None:
    """Leave them beside the notebook; the file is there when it is whole."""
    result = Path(os.environ["JPY_SESSION_NAME"]).with_suffix(".ipynb.json")
    part = result.with_suffix(".part")
    part.write_text(json.dumps(durations))
    part.rename(result)
