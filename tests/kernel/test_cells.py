"""What a call may do where the host is inside the kernel; `make test-kernels` proves it on the real kernels."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from jupyter_applets.errors import AppletError, AwaitUnavailable, BlockingCallUnavailable, CallTimeout, UnknownStateKey
from jupyter_applets.kernel import cells as module
from jupyter_applets.kernel.cells import Cells

CALL = "<applet>.aquery('cells')"


@pytest.fixture
def cells() -> Cells:
    """A cell is running, as when a kernel's first applet is made."""
    return Cells()


@pytest.fixture
def set_version(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[int, int] | None], None]:
    return lambda version: monkeypatch.setattr(module, "_ipykernel_version", lambda: version)


def in_a_thread(function: Callable[[], None]) -> BaseException | None:
    """What the function raised, if it did."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as e:
            raised.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


@pytest.mark.parametrize(
    ("version", "off_main", "awaiting", "blocking"),
    [
        (None, None, False, False),
        ((6, 31), None, False, False),
        ((6, 31), False, False, False),
        ((7, 3), False, False, False),
        ((7, 3), True, True, True),
        ((7, 3), None, True, True),
        ((7, 4), None, True, False),
        ((7, 4), True, True, False),
        ((8, 0), None, True, False),
    ],
)
def test_what_a_running_cell_can_do_depends_on_the_kernel(
    cells: Cells,
    set_version: Callable[[tuple[int, int] | None], None],
    version: tuple[int, int] | None,
    off_main: bool | None,
    awaiting: bool,
    blocking: bool,
) -> None:
    """The table in CONTRIBUTING.md. Before a page has spoken, 7.0 to 7.3 may try."""
    set_version(version)
    if off_main is not None:
        in_a_thread(cells.page_spoke) if off_main else cells.page_spoke()
    if blocking:
        cells.check_blocking(CALL)
    else:
        with pytest.raises(BlockingCallUnavailable) as caught:
            cells.check_blocking(CALL)
        assert f"`await {CALL}`" in caught.value.message
        assert ("between cells" in caught.value.message) != awaiting
    if awaiting:
        cells.check_await()
    else:
        with pytest.raises(AwaitUnavailable):
            cells.check_await()


@pytest.mark.parametrize("version", [(6, 31), (7, 3), (7, 4)])
def test_thread_may_block_and_await_whatever_the_kernel(
    cells: Cells, set_version: Callable[..., None], version: tuple[int, int]
) -> None:
    set_version(version)
    cells.page_spoke()
    assert in_a_thread(lambda: cells.check_blocking(CALL)) is None
    assert in_a_thread(cells.check_await) is None


@pytest.mark.parametrize("version", [(6, 31), (7, 3), (7, 4)])
def test_between_cells_the_main_thread_may_await_but_not_block(
    cells: Cells, set_version: Callable[..., None], version: tuple[int, int]
) -> None:
    """A callback that blocks stops the loop that would take the answer."""
    set_version(version)
    cells.page_spoke()
    cells._ended()
    cells.check_await()
    with pytest.raises(BlockingCallUnavailable, match="instead"):
        cells.check_blocking(CALL)


def test_thread_that_takes_the_pages_messages_may_not_block(cells: Cells, set_version: Callable[..., None]) -> None:
    """As in the handler of another widget, called in the subshell of all widgets."""
    set_version((7, 3))

    def handle() -> None:
        cells.page_spoke()
        cells.check_await()
        cells.check_blocking(CALL)

    assert isinstance(in_a_thread(handle), BlockingCallUnavailable)


def test_cell_inside_a_cell_does_not_end_it(cells: Cells, set_version: Callable[..., None]) -> None:
    set_version((6, 31))
    cells._started()
    cells._ended()
    with pytest.raises(AwaitUnavailable):
        cells.check_await()
    cells._ended()
    cells.check_await()


def test_cell_of_a_subshell_is_not_the_main_threads(cells: Cells, set_version: Callable[..., None]) -> None:
    set_version((6, 31))
    assert in_a_thread(cells._ended) is None
    with pytest.raises(AwaitUnavailable):
        cells.check_await()


def test_silence_while_a_cell_ran_is_explained(cells: Cells, set_version: Callable[..., None]) -> None:
    set_version((7, 3))
    explained = cells.explain(CallTimeout("No answer in time."))
    assert isinstance(explained, CallTimeout)
    assert explained.message.startswith("No answer in time. ")
    assert "ipykernel 7.3 may take no answers while a cell runs" in explained.message


def test_other_errors_and_those_of_a_page_that_is_heard_stay_as_they_are(
    cells: Cells, set_version: Callable[..., None]
) -> None:
    set_version((7, 3))

    def is_kept(error: AppletError) -> bool:
        return cells.explain(error) is error

    assert is_kept(UnknownStateKey("No such key."))
    in_a_thread(cells.page_spoke)
    assert is_kept(CallTimeout("No answer in time."))
    cells.page_spoke()
    assert not is_kept(CallTimeout("No answer in time."))
    cells._ended()
    assert is_kept(CallTimeout("No answer in time."))
    set_version((7, 4))
    cells._started()
    assert is_kept(CallTimeout("No answer in time."))
