"""The tools as functions of the kernel: by position, in snake case, with the words that an agent gets."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jupyter_applets
from jupyter_applets import tools
from jupyter_applets.errors import AppletNotFound, InvalidArguments, UnknownTool, WindowNotFound
from jupyter_applets.kernel import connection as module
from jupyter_applets.protocol.tools import DEFINITIONS, for_agents

NAMES = [definition.name for definition in for_agents()]


@pytest.fixture(autouse=True)
def fresh_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A process without a Jupyter server: the host is inside, with its files in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUPYTER_APPLETS_ROOT", raising=False)
    monkeypatch.delenv("JUPYTER_APPLETS_URL", raising=False)
    monkeypatch.setattr(module, "_connection", None)
    yield
    if module._connection is not None:
        module._connection.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_is_a_function_of_the_package(name: str) -> None:
    function = getattr(jupyter_applets, name)
    assert (function.__name__, function.__module__) == (name, "jupyter_applets")
    assert function is getattr(jupyter_applets, name)
    assert DEFINITIONS[name].description in function.__doc__


def test_what_is_no_tool_is_no_function() -> None:
    for name in ("open_window", "push_state", "nonsense"):
        with pytest.raises(AttributeError):
            getattr(jupyter_applets, name)


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "set_applet_content",
            (
                "(html: str, js: str = '', css: str = '', title: str = '', window_id: str | None = None, "
                "permissions: dict[str, typing.Any] | None = None, *, session: str | None = None, "
                "timeout: float | None = None)"
            ),
        ),
        (
            "app_query",
            "(window_id: str, state_key: str, *, session: str | None = None, timeout: float | None = None)",
        ),
        ("list_windows", "(*, timeout: float | None = None)"),
        ("delete_applet", "(slug: str, *, timeout: float | None = None)"),
    ],
)
def test_signature_reads_like_one_that_was_written(name: str, signature: str) -> None:
    assert str(inspect.signature(getattr(jupyter_applets, name))) == signature


def test_documentation_names_every_argument() -> None:
    text = jupyter_applets.save_applet.__doc__ or ""
    for name in ("slug:", "name:", "description:", "window_id:", "permissions:", "timeout:"):
        assert f"\n{name} " in text


def test_arguments_are_taken_by_position_and_in_snake_case() -> None:
    assert jupyter_applets.set_applet_content("<p>", "go()", window_id="w")["windowId"] == "w"
    jupyter_applets.set_applet_state({"n": 1}, "w")
    assert jupyter_applets.get_applet_state("w")["state"] == {"n": 1}
    assert jupyter_applets.get_applet_state(window_id="w", key="n")["state"] == {"n": 1}


def test_wrong_arguments_raise_with_the_signature() -> None:
    function: Any = jupyter_applets.app_query
    with pytest.raises(TypeError, match=r"app_query\(window_id: str, state_key: str.*'window_id'"):
        function(windowId="w", stateKey="x")
    with pytest.raises(TypeError, match="'windowId'"):
        jupyter_applets.get_applet_state(windowId="w")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="state_key"):
        function("w")
    with pytest.raises(InvalidArguments, match=r"close_window.*windowId"):
        jupyter_applets.close_window(3)  # type: ignore[arg-type]


def test_files_and_applets_round_trip(tmp_path: Path) -> None:
    version = jupyter_applets.write_file("a.txt", "hello")["version"]
    assert jupyter_applets.read_file("a.txt")["version"] == version
    assert [f["name"] for f in jupyter_applets.list_files()["files"] if f["type"] == "file"] == ["a.txt"]
    jupyter_applets.set_applet_content("<p>", title="Notes")
    saved = jupyter_applets.save_applet("notes")
    assert Path(saved["paths"]["html"]).read_text() == "<p>"
    assert "notes" in [entry["slug"] for entry in jupyter_applets.list_applets()]
    assert jupyter_applets.load_applet("notes")["slug"] == "notes"
    jupyter_applets.delete_applet("notes")
    with pytest.raises(AppletNotFound):
        jupyter_applets.load_applet("notes")


def test_file_is_read_as_it_was_written_just_before() -> None:
    """Reads and writes are done by different threads."""
    for n in range(50):
        link = module.connection().link("")
        link.call("write_file", {"path": "n.txt", "content": str(n)})
        assert link.call("read_file", {"path": "n.txt"}).result(10)["content"] == str(n)


async def test_tool_is_called_by_name_with_the_arguments_of_the_wire() -> None:
    told = await tools.call("set_applet_content", {"html": "<p>", "windowId": "w", "title": None})
    assert told["windowId"] == "w"
    assert [w["windowId"] for w in await tools.call("list_windows")] == ["w"]
    with pytest.raises(WindowNotFound):
        await tools.call("close_window", {"windowId": "nope"})


async def test_call_refuses_what_is_no_tool_for_agents_and_what_is_no_object() -> None:
    for name in ("open_window", "push_state", "nonsense"):
        with pytest.raises(UnknownTool, match="set_applet_content"):
            await tools.call(name, {})
    with pytest.raises(InvalidArguments, match="object"):
        await tools.call("list_windows", [1])  # type: ignore[arg-type]
    with pytest.raises(InvalidArguments, match="nonsense"):
        await tools.call("list_windows", {"nonsense": 1})
