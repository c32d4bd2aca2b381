"""What a call may do where the host is inside the kernel: whether a cell runs, and which thread takes answers.

A page's answer comes over a comm. No kernel takes it on a thread that blocks; while a cell runs on the main thread:

    kernel                                      awaiting in the cell    blocking in the cell
    ipykernel 7.4 and later                     answered                never answered
    ipykernel 7.0 to 7.3, page in a subshell    answered                answered
    ipykernel 7.0 to 7.3 without; others        never answered          never answered

What would never be answered raises at once.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import AppletError, AwaitUnavailable, BlockingCallUnavailable, CallTimeout, NotReady, NotShown

_SILENCE = (CallTimeout, NotReady, NotShown)


class Possible(NamedTuple):
    """What a cell on the main thread can do while it runs; None is not known before a page has spoken."""

    awaiting: bool | None
    blocking: bool | None


class Cells:
    """Watches the cells of this kernel, through IPython's own events, and where pages' messages come in."""

    def __init__(self) -> None:
        # It is made by a call in a cell, so a cell is running now, if there are cells at all.
        self._depth = 1
        self._receiver: threading.Thread | None = None
        shell = _shell()
        if shell is not None:
            shell.events.register("pre_execute", self._started)
            shell.events.register("post_execute", self._ended)

    def page_spoke(self) -> None:
        """To be called on the thread on which Jupyter brought a page's message: the next will come there too."""
        self._receiver = threading.current_thread()

    def check_blocking(self, call: str) -> None:
        """Between cells too, the answer must come on another thread. `call` is how to make this call with `await`."""
        if threading.current_thread() is self._receiver or (_is_main() and self._possible().blocking is False):
            where = " in a callback or a task that runs between cells" if self._cannot_await() else " instead"
            raise BlockingCallUnavailable(
                "This notebook reaches its applets through the kernel alone, which takes no answers while this call "
                f"blocks: use `await {call}`{where}. With the jupyter_applets server extension enabled (in the "
                "environment of the Jupyter server), the blocking call works."
            )

    def check_await(self) -> None:
        if self._cannot_await():
            raise AwaitUnavailable(
                f"{_kernel_name()} takes no answers from the page while a cell runs, not even while it awaits: "
                "make the call in a callback or a task that runs between cells, upgrade to ipykernel 7.4 or newer, "
                "or enable the jupyter_applets server extension in the environment of the Jupyter server."
            )

    def explain(self, error: AppletError) -> AppletError:
        """The error of a call that was tried; a page's silence may have been the kernel's."""
        heard = self._off_main() or (_is_main() and self._possible().awaiting)
        if heard or self._depth == 0 or not isinstance(error, _SILENCE):
            return error
        return type(error)(
            f"{error.message} Or it was not heard: {_kernel_name()} may take no answers while a cell runs."
        )

    def _cannot_await(self) -> bool:
        return _is_main() and self._depth > 0 and self._possible().awaiting is False

    def _possible(self) -> Possible:
        version = _ipykernel_version()
        if version is None or version < (7, 0):
            return Possible(awaiting=False, blocking=False)
        if version >= (7, 4):
            return Possible(awaiting=True, blocking=False)
        return Possible(awaiting=self._off_main(), blocking=self._off_main())

    def _off_main(self) -> bool | None:
        return None if self._receiver is None else self._receiver is not threading.main_thread()

    # A cell may run others (`%run other.ipynb`), and subshells run theirs on threads of their own.

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


def _ipykernel_version() -> tuple[int, ...] | None:
    if "ipykernel" not in sys.modules or getattr(_shell(), "kernel", None) is None:
        return None
    from ipykernel._version import version_info

    return tuple(v for v in version_info[:2] if isinstance(v, int))


def _kernel_name() -> str:
    version = _ipykernel_version()
    return "This kernel" if version is None else f"ipykernel {'.'.join(map(str, version))}"
