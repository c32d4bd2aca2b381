"""The host inside the kernel, for front ends that cannot reach our server extension. Pages come over widgets' comms.

A kernel takes no comm messages while a cell runs, except as `Possible` says, and none ever on a thread that blocks;
what is not possible raises at once.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import AppletError, AwaitUnavailable, BlockingCallUnavailable, CallTimeout, NotReady, NotShown
from ..host import Driver, Host
from ..link.comm import CommPipe
from ..link.memory import MemoryLink
from ..link.thread import LoopThread
from ..protocol.frames import Codec
from ..protocol.link import FromPage
from ..tools import TOOLS
from .owner import WindowOwner

_codec: Codec[FromPage] = Codec(FromPage)
_SILENCE = (CallTimeout, NotReady, NotShown)


class Possible(NamedTuple):
    """What a cell on the main thread can do while it runs; None is not known before a view has said hello."""

    awaiting: bool | None
    blocking: bool | None


class LocalHost:
    """Owns the host's thread and the pages that came over comms. Its public methods are for any thread."""

    def __init__(self, session: str, kernel: str, version: str) -> None:
        self._thread = LoopThread("jupyter_applets-host")
        self._driver = Driver(Host(TOOLS, version=version), self._thread.loop)
        self._pipes: weakref.WeakKeyDictionary[WindowOwner, dict[str, CommPipe]] = weakref.WeakKeyDictionary()
        self._session = session
        self._off_main: bool | None = None
        self._receiver: threading.Thread | None = None
        self.link = MemoryLink(self._driver, self._thread.call_soon, session, kernel)
        self._cell = _CellWatch()

    def on_comm(self, widget: WindowOwner, content: Any) -> None:
        """A page's message arrived on a widget's comm, on whatever thread Jupyter chose."""
        if isinstance(content, dict) and isinstance(content.get("page"), str):
            # What a later call may do is decided by where Jupyter brings the page's messages.
            self._receiver = threading.current_thread()
            self._off_main = not _is_main()
            self._thread.call_soon(self._receive, widget, content)

    def close(self) -> None:
        self.link.close()
        self._thread.call_soon(self._driver.close)
        self._thread.stop()

    def _receive(self, widget: WindowOwner, content: dict[str, Any]) -> None:
        page = content["page"]
        pipes = self._pipes.setdefault(widget, {})
        messages = content.get("messages")
        peer = f"page-{id(widget):x}-{page}"
        if isinstance(messages, list) and any(isinstance(m, dict) and m.get("type") == "hello" for m in messages):
            if page not in pipes:
                pipes[page] = CommPipe(page, widget.put_on_comm, self._thread.loop.call_later)
                self._driver.connect(peer, "page", self._session, pipes[page].put)
            else:
                pipes[page].restart()
        pipe = pipes.get(page)
        if pipe is None:
            return
        if content.get("kind") == "nack":
            expected = content.get("expected")
            pipe.resend(expected if isinstance(expected, int) else 1)
        else:
            self._driver.receive(peer, [_codec.convert(m) for m in pipe.accept(content)])

    # ---- what a call may do

    def check_blocking(self, call: str) -> None:
        """A call blocks its thread, so the answer must come on another one, cell or no cell."""
        if threading.current_thread() is self._receiver or (_is_main() and self._possible().blocking is False):
            raise BlockingCallUnavailable(
                "This notebook reaches its applets through the kernel alone, which takes no answers while this call "
                f"blocks: use `await {call}`{self._where_to_await()}. With the jupyter_applets server extension enabled "
                "(in the environment of the Jupyter server), the blocking call works."
            )

    def check_await(self) -> None:
        if self._cell.is_running_here() and self._possible().awaiting is False:
            raise AwaitUnavailable(
                f"{_kernel_name()} takes no answers from the page while a cell runs, not even while it awaits: "
                f"make the call in a callback or a task that runs between cells, upgrade to ipykernel 7.4 or newer, "
                "or enable the jupyter_applets server extension in the environment of the Jupyter server."
            )

    def explained(self, error: AppletError) -> AppletError:
        """The error, with what may be behind it when nothing came from the page while a cell ran."""
        if not isinstance(error, _SILENCE) or not self._cell.is_running() or self._off_main:
            return error
        return type(error)(f"{error.message} {_kernel_name()} may take nothing from the page while a cell runs.")

    def _where_to_await(self) -> str:
        no_cell_can = self._cell.is_running_here() and self._possible().awaiting is False
        return " in a callback or a task that runs between cells" if no_cell_can else " instead"

    def _possible(self) -> Possible:
        version = _ipykernel_version()
        if version is None or version < (7, 0):
            return Possible(awaiting=False, blocking=False)
        if version >= (7, 4):
            return Possible(awaiting=True, blocking=False)
        return Possible(awaiting=self._off_main, blocking=self._off_main)


def _ipykernel_version() -> tuple[int, ...] | None:
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return None
    from ipykernel._version import version_info
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return tuple(v for v in version_info[:2] if isinstance(v, int)) if kernel is not None else None


def _kernel_name() -> str:
    version = _ipykernel_version()
    return "This kernel" if version is None else f"ipykernel {'.'.join(map(str, version))}"


class _CellWatch:
    """Knows whether a cell is running on the main thread, from IPython's own events."""

    def __init__(self) -> None:
        # It is made by a call in a cell, so a cell is running now, if there are cells at all.
        self._depth = 1
        shell = _shell()
        if shell is not None:
            shell.events.register("pre_execute", self._started)
            shell.events.register("post_execute", self._ended)

    def is_running(self) -> bool:
        return self._depth > 0

    def is_running_here(self) -> bool:
        return self.is_running() and _is_main()

    # A cell may run others (`%run other.ipynb`), and subshells run theirs on other threads.

    def _started(self) -> None:
        if _is_main():
            self._depth += 1

    def _ended(self) -> None:
        if _is_main():
            self._depth = max(0, self._depth - 1)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _shell() -> Any:
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    get: Callable[[], Any] = get_ipython
    return get()
