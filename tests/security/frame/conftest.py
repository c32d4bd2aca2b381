"""The fixtures of the browser tests, with a browser and a JupyterLab for this folder alone.

A folder of its own, because the other security tests run loops on this thread, which they cannot beside Playwright's.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ...browser.conftest import (
    browser,
    jp_asyncio_loop,
    jp_server_cleanup,
    lab,
    module_notebook,
    notebook,
    pytest_runtest_makereport,
)
from .loopback import Loopback, loopback

__all__ = [
    "browser",
    "jp_asyncio_loop",
    "jp_server_cleanup",
    "lab",
    "module_notebook",
    "notebook",
    "pytest_runtest_makereport",
]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Loopback]:
    with loopback() as server:
        yield server
