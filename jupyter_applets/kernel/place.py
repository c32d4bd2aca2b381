"""Where this kernel runs: its session, its id, and the server that started it. Read from the environment, once."""

from __future__ import annotations

import os
import re
import sys
import uuid
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple

from ..protocol import environment


class Server(NamedTuple):
    url: str
    secret: str
    certificate: str | None


def server() -> Server | None:
    """The host's server, as its extension told this kernel through the environment."""
    url, secret = os.environ.get(environment.URL), os.environ.get(environment.SECRET)
    return Server(url, secret, os.environ.get(environment.CERTIFICATE) or None) if url and secret else None


@cache
def kernel_id() -> str:
    """The kernel's id as Jupyter knows it, from the name of its connection file; else one of our own."""
    if "ipykernel" in sys.modules:
        from ipykernel.connect import get_connection_file

        try:
            name = Path(get_connection_file()).stem
        except RuntimeError:
            name = ""
        if match := re.fullmatch(r"kernel-(.+)", name):
            return match[1]
    return uuid.uuid4().hex


def root() -> str:
    """The folder that applets' files are in where no server says: that of the notebook, or where the kernel runs."""
    return os.environ.get(environment.ROOT) or str(Path.cwd())


@cache
def session() -> str:
    """The notebook's path below the server's root, so that the session is the same tomorrow; else the kernel's id."""
    name = os.environ.get("JPY_SESSION_NAME")
    if not name:
        return kernel_id()
    path, root = PurePath(name), os.environ.get(environment.ROOT)
    if root and path.is_absolute() and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()
