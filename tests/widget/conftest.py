"""For every widget test: a process without a Jupyter server, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_applets.kernel import connection as module
from jupyter_applets.kernel.callbacks import _worker


@pytest.fixture(autouse=True)
def fresh_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The host is inside, with its files below the folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUPYTER_APPLETS_ROOT", raising=False)
    monkeypatch.delenv("JUPYTER_APPLETS_URL", raising=False)
    monkeypatch.setattr(module, "_connection", None)
    yield
    if module._connection is not None:
        module._connection.close()


@pytest.fixture
def callbacks_done() -> Callable[[], None]:
    """Where no loop runs, callbacks come in order on one thread: what is put behind them comes after them."""
    return lambda: _worker().submit(int).result(10)
