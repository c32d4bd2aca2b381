"""The layers: an import that points the wrong way fails here. The picture is in CONTRIBUTING.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "jupyter_applets"

MAY_IMPORT = {
    "errors": set(),
    "protocol": {"errors"},
    "host": {"protocol"},
    "tools": {"host", "store"},
    "store": {"workspace", "protocol"},
    "workspace": {"errors"},
    "link": {"protocol"},
    "kernel": {"link"},
    "widget": {"kernel"},
    "server": {"tools"},
}
EXCEPTIONS = {"kernel/local.py": {"host", "tools", "store", "workspace"}, "tools/__init__.py": {"kernel", "link"}}
"""The one file of the kernel that runs a host; and `tools.call`, by which a kernel runs a tool."""


def reach(layer: str) -> set[str]:
    """What a layer may import, through the layers between."""
    direct = MAY_IMPORT[layer]
    return direct.union(*(reach(below) for below in direct)) if direct else set()


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The layers of our own that a file imports, at its top or inside a function."""
    inside = path.relative_to(PACKAGE.parent).with_suffix("").parts
    found = set()
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom):
            base = list(inside[: len(inside) - node.level]) if node.level else []
            names = [*base, *(node.module.split(".") if node.module else [])]
            targets = [names] if len(names) > 1 else [[*names, alias.name] for alias in node.names]
            found |= {target[1] for target in targets if len(target) > 1 and target[0] == PACKAGE.name}
        elif isinstance(node, ast.Import):
            found |= {n.name.split(".")[1] for n in node.names if n.name.startswith(f"{PACKAGE.name}.")}
    return found


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.name != "__init__.py"]
# Parsed while tests are collected: beside other threads, `ast` fails now and then before Python 3.11.8 (gh-106905).
TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    layer = layer_of(path)
    allowed = {layer} | reach(layer) | EXCEPTIONS.get(path.relative_to(PACKAGE).as_posix(), set())
    assert imports(path) - {"__version__"} <= allowed


@pytest.mark.parametrize("layer", ["protocol", "host"])
def test_core_does_no_io(layer: str) -> None:
    """Neither messages nor host know of sockets, files, widgets or a clock; `driver` is the host's way to a loop."""
    banned = {"tornado", "ipywidgets", "anywidget", "jupyter_server", "socket", "time", "threading", "os"}
    for path in (PACKAGE / layer).rglob("*.py"):
        names = {"asyncio"} | banned if path.name != "driver.py" else banned
        for node in ast.walk(TREES[path]):
            roots = []
            if isinstance(node, ast.Import):
                roots = [alias.name.split(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                roots = [(node.module or "").split(".")[0]]
            assert not names & set(roots), f"{path.name} imports {roots}"
