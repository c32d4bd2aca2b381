"""Environments of their own for kernels: made once, kept in `.venvs/`, made anew when what they hold has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venvs"


def with_kernel(version: str) -> Path:
    """The Python of an environment with this version of ipykernel, and this package as it stands here."""
    return make(f"ipykernel-{version}", f"ipykernel=={version}.*", "--editable", str(ROOT))


def make(name: str, *what: str) -> Path:
    """The Python of an environment with what pip is told to install, and with what this package requires."""
    folder = ENVIRONMENTS / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ours = [line for line in requires("jupyter_applets") or [] if "extra ==" not in line]
    wanted = json.dumps([sys.version, *what, *ours])
    stamp = folder / "made-of.json"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, symlinks=os.name != "nt")
        install(python, *what, *ours)
        stamp.write_text(wanted)
    return python


def install(python: Path, *what: str) -> None:
    """pip of this environment installs into that one, which therefore needs none."""
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    # What is installed here has its JavaScript built already.
    env = {**os.environ, "HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"}
    done = subprocess.run([*command, *what], env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
