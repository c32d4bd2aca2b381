"""For every test: pytest-jupyter's server, with the extension. The same plugin runs `async def` tests."""

from __future__ import annotations

import pytest
from traitlets.config import Config

pytest_plugins = ["pytest_jupyter.jupyter_server", "tests.running_server"]


@pytest.fixture
def jp_server_config() -> Config:
    """The extension on a server that refuses every handler without a decision about who may call it."""
    return Config(
        {
            "ServerApp": {
                "allow_unauthenticated_access": False,
                "jpserver_extensions": {"jupyter_applets": True},
            }
        }
    )
