"""A real kernel, and the page in front of it: what JupyterLab and the widget's JavaScript send, message by message."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from jupyter_applets.protocol import environment
from jupyter_applets.protocol.base import PROTOCOL

WAIT = 30.0
CELLS = {"A1": "100"}
STALL = 0.25
VIEW_MIME = "application/vnd.jupyter.widget-view+json"


class Kernel:
    """A kernel's client, that runs cells and gives each message for the page to `page`."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        self.page: Callable[[str, dict[str, Any]], None] = lambda kind, content: None
        self._printed: list[str] = [""]
        self._nudger: zmq.Socket[bytes] | None = None

    def run(self, code: str) -> None:
        """Run a cell to its end."""
        cell = self.client.execute(code)
        failed = ""

        def ended(message: dict[str, Any]) -> bool:
            nonlocal failed
            if message["parent_header"].get("msg_id") != cell:
                return False
            if message["msg_type"] == "error":
                failed = "\n".join(message["content"]["traceback"])
            return message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"

        self._pump(lambda message: message is not None and ended(message))
        assert not failed, failed

    def printed(self) -> Any:
        """The next line that was printed, by whatever prints, as JSON."""
        self._pump(lambda message: len(self._printed) > 1)
        return json.loads(self._printed.pop(0))

    def until(self, condition: Callable[[], bool]) -> None:
        self._pump(lambda message: condition())

    def create_subshell(self) -> str:
        client = self.client
        client.control_channel.send(client.session.msg("create_subshell_request", {}))
        content = client.get_control_msg(timeout=WAIT)["content"]
        assert content["status"] == "ok", content
        subshell: str = content["subshell_id"]
        return subshell

    def send_comm(self, comm: str, data: dict[str, Any], subshell: str | None) -> None:
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)

    def _pump(self, enough: Callable[[dict[str, Any] | None], bool]) -> None:
        """Take messages, each as it comes, until there are enough."""
        deadline = time.monotonic() + WAIT
        message = None
        while not enough(message):
            assert time.monotonic() < deadline, f"it did not come in {WAIT} s; printed: {self._printed}"
            try:
                message = self.client.get_iopub_msg(timeout=STALL)
            except Empty:
                self._nudge()
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and content["name"] == "stdout":
                *lines, rest = (self._printed.pop() + content["text"]).split("\n")
                self._printed += [*lines, rest]
            else:
                self.page(kind, content)

    def _nudge(self) -> None:
        """ipykernel 7.0 to 7.3 may leave a message unread until a new client connects (ipykernel #1554)."""
        if self._nudger is not None:
            self._nudger.close()
        self._nudger = self.client.connect_shell()


class Page:
    """A page that could not reach a server: it speaks over the widget's comm, in the main shell or in a subshell.

    As the widget's JavaScript does, it says hello when the model comes, and shows a view when that is displayed.
    """

    def __init__(self, kernel: Kernel, *, subshells: bool) -> None:
        self.kernel = kernel
        self.welcomed = False
        self.buttons: list[str] = []
        # JupyterLab opens one for all widgets (commsOverSubshells: perCommTarget).
        self._subshell = kernel.create_subshell() if subshells else None
        self._comm = ""
        self._window = ""
        self._revision = 0
        self._session = ""
        self._sent = self._seen = 0
        kernel.page = self._take

    def interact(self, content: str = "click") -> None:
        """The user does something in the applet."""
        self._say({"type": "interaction", "windowId": self._window, "content": content})

    def press(self) -> None:
        """The user presses the notebook's newest button, a widget of ipywidgets."""
        data = {"method": "custom", "content": {"event": "click"}}
        self.kernel.send_comm(self.buttons[-1], data, self._subshell)

    def _take(self, kind: str, content: dict[str, Any]) -> None:
        match kind:
            case "comm_open":
                self._model_came(content["comm_id"], content["data"].get("state", {}))
            case "display_data" if content["data"].get(VIEW_MIME, {}).get("model_id") == self._comm:
                self._show()
            case "comm_msg" if content["comm_id"] == self._comm and content["data"]["method"] == "custom":
                self._frame_came(content["data"]["content"])

    def _model_came(self, comm: str, state: dict[str, Any]) -> None:
        if state.get("_model_name") == "ButtonModel":
            self.buttons.append(comm)
        if "_route" not in state:
            return
        assert state["_route"] == "kernel"
        self._comm, self._window, self._revision = comm, state["window_id"], state["_revision"]
        self._session, self.welcomed, self._sent, self._seen = state["_session"], False, 0, 0
        hello = {"type": "hello", "protocol": PROTOCOL, "version": state["_version"], "role": "page"}
        self._say({**hello, "session": state["_session"], "id": self._page, "views": []})

    def _show(self) -> None:
        """A view is mounted, and its applet registers."""
        names = {"windowId": self._window, "viewId": f"view-{self._comm}"}
        self._say({"type": "viewOpened", "view": {**names, "revision": self._revision, "document": 1}})
        manifest = {"appId": "sheet", "name": "Sheet", "state": {"cells": {"description": "Cells"}}, "commands": {}}
        self._say({"type": "APP_PROTOCOL_READY", **names, "document": 1, "manifest": manifest, "hydrates": False})

    def _frame_came(self, frame: dict[str, Any]) -> None:
        if frame["page"] != self._page:
            return
        assert (frame["kind"], frame["seq"]) == ("frame", self._seen + 1)
        self._seen += 1
        for message in frame["messages"]:
            if message["type"] == "welcome":
                self.welcomed = True
            elif message["type"] == "APP_PROTOCOL_REQUEST":
                self._answer(message)

    def _answer(self, request: dict[str, Any]) -> None:
        assert request["request"] == {"kind": "query", "stateKey": "cells"}
        names = {"requestId": request["requestId"], "windowId": request["windowId"]}
        self._say({"type": "APP_PROTOCOL_RESPONSE", **names, "response": {"kind": "query", "data": CELLS}})

    @property
    def _page(self) -> str:
        return f"page-{self._comm}"

    def _say(self, message: dict[str, Any]) -> None:
        self._sent += 1
        frame = {"kind": "frame", "page": self._page, "seq": self._sent, "ack": self._seen, "messages": [message]}
        self.kernel.send_comm(self._comm, {"method": "custom", "content": frame}, self._subshell)


def write_spec(folder: Path, name: str, python: Path) -> None:
    """A kernelspec for this Python, below a folder of a JUPYTER_PATH."""
    spec = folder / "kernels" / name / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": name, "language": "python"}))


@contextmanager
def start(folder: Path, python: Path) -> Iterator[Kernel]:
    """A kernel without a server."""
    write_spec(folder, "tested", python)
    env = {name: value for name, value in os.environ.items() if name not in {environment.URL, environment.SECRET}}
    env |= {"IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    specs = KernelSpecManager(kernel_dirs=[str(folder / "kernels")], ensure_native_kernel=False)
    connection_file = folder / "kernel-tested.json"
    manager = KernelManager(kernel_name="tested", kernel_spec_manager=specs, connection_file=str(connection_file))
    manager.start_kernel(env=env, cwd=str(folder))
    try:
        with connect(connection_file) as kernel:
            yield kernel
    finally:
        manager.shutdown_kernel(now=True)


@contextmanager
def connect(connection_file: Path) -> Iterator[Kernel]:
    client = BlockingKernelClient(connection_file=str(connection_file))
    client.load_connection_file()
    # A heartbeat that is late on a busy machine would be taken for a kernel that died.
    client.start_channels(hb=False)
    try:
        client.wait_for_ready(timeout=WAIT)
        yield Kernel(client)
    finally:
        client.stop_channels()
