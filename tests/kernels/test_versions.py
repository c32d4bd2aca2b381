"""A kernel whose environment has another version of this package than the Jupyter server's, and so another protocol."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_applets.protocol.base import PROTOCOL
from tests.browser.lab import Lab

from .environments import ROOT, install, make
from .kernel import Kernel, connect, write_spec

# The first test makes the environment.
pytestmark = [pytest.mark.kernels, pytest.mark.timeout(400)]

CALLS = """
import json
from jupyter_applets import Applet, app_query, list_windows
from jupyter_applets.errors import AppletError

def report(call, *args):
    try:
        outcome = "answer", call(*args)
    except AppletError as e:
        outcome = type(e).__name__, e.message
    print(json.dumps(outcome))

report(list_windows)
report(app_query, "sheet", "cells")
Applet(window_id="sheet")
report(list_windows)
"""


@pytest.fixture(scope="module")
def other() -> Path:
    return make("other-version", "ipykernel")


@pytest.fixture(scope="module")
def lab(other: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of this environment, that can start kernels of the other one."""
    folder = tmp_path_factory.mktemp("lab")
    write_spec(folder / "share", "other", other)
    lab = Lab(folder, env={"JUPYTER_PATH": str(folder / "share")})
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def kernel(request: pytest.FixtureRequest, other: Path, lab: Lab, tmp_path: Path) -> Iterator[Kernel]:
    """Started by the server, with this package as it stands here but for the number of its protocol."""
    shutil.copytree(ROOT / "jupyter_applets", tmp_path / "jupyter_applets")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    base = tmp_path / "jupyter_applets" / "protocol" / "base.py"
    text, found = re.subn(r"^PROTOCOL = \d+$", f"PROTOCOL = {request.param}", base.read_text(), flags=re.MULTILINE)
    assert found == 1
    base.write_text(text)
    install(other, "--no-deps", "--force-reinstall", str(tmp_path))

    started = lab.api("api/kernels", method="POST", body={"name": "other"})["id"]
    with connect(lab.folder / "runtime" / f"kernel-{started}.json") as kernel:
        yield kernel
    lab.api(f"api/kernels/{started}", method="DELETE")


@pytest.mark.parametrize(
    ("kernel", "side"), [(PROTOCOL - 1, "the kernel"), (PROTOCOL + 1, "the server")], indirect=["kernel"]
)
def test_call_of_another_protocol_names_the_side_to_upgrade(kernel: Kernel, side: str) -> None:
    kernel.run(CALLS)
    for _ in range(3):
        error, message = kernel.printed()
        assert error == "ProtocolMismatch"
        assert f"upgrade jupyter_applets in the environment of {side}" in message


@pytest.mark.parametrize("kernel", [PROTOCOL], indirect=True)
def test_other_environment_with_the_same_protocol_is_served(kernel: Kernel) -> None:
    kernel.run(CALLS)
    assert kernel.printed() == ["answer", []]
    assert kernel.printed()[0] == "WindowNotFound"
    kind, [window] = kernel.printed()
    assert (kind, window["windowId"]) == ("answer", "sheet")
