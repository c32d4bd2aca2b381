"""What pages say to a host: of their views, their applets, the state, what people decided, and desks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..protocol.app import AppProtocolReady, AppProtocolResponse
from ..protocol.channel import Permit, Revoke, SetState, StateSeen
from ..protocol.link import (
    Activate,
    CloseWindow,
    ConsoleLines,
    Interaction,
    Result,
    Snapshot,
    ViewClosed,
    ViewOpened,
    WatchWindows,
)
from . import speaking
from .requests import Caller
from .windows import Window

if TYPE_CHECKING:
    from .host import Host, OnMessage


def _view_opened(host: Host, peer: str, message: ViewOpened) -> None:
    host.showing.announce(peer, message.view)
    host.note_idle()


def _view_closed(host: Host, peer: str, message: ViewClosed) -> None:
    view = host.windows.view(message.view_id)
    if view is not None and view.peer == peer:
        host.showing.remove([view], "it was closed or moved")
        if not any(other.peer == peer for other in view.window.views.values()):
            host.do(host.subscriptions.drop(peer, view.window.id))
        host.note_idle()


def _ready(host: Host, peer: str, message: AppProtocolReady) -> None:
    host.showing.ready(peer, message)


def _response(host: Host, peer: str, message: AppProtocolResponse) -> None:
    request = host.requests.get(message.request_id)
    if request is None or request.view is None:
        return  # answered already, or too late
    view = request.view
    if view.peer != peer and view.id not in {known.id for known in host.showing.of(peer)}:
        host.outbox.log_once("a peer answered a request that was put to another one; the answer was dropped")
    elif view.step == request.id:
        host.restorer.answered(view, request, message.response)
    else:
        entry = host.calls.answered(request, message.response)
        if entry is not None:
            host.restorer.mirror(entry, request.window)


def _interaction(host: Host, peer: str, message: Interaction) -> None:
    session = host.outbox.peers[peer].session
    host.outbox.tell_kernels(session, message)
    speaking.interacted(host, session, message)


def _console(host: Host, peer: str, message: ConsoleLines) -> None:
    session = host.outbox.peers[peer].session
    window = host.windows.get(session, message.window_id)
    if window is not None:
        window.console.extend(message.entries)
        host.outbox.tell_kernels(session, message)


def _snapshot(host: Host, peer: str, message: Snapshot) -> None:
    view = host.windows.view(message.view_id)
    if view is not None and view.peer == peer and view is view.window.answering():
        view.window.log.take_snapshot(message.state, view.seq)


def _set_state(host: Host, peer: str, message: SetState) -> None:
    window = host.meant(peer, message.window_id)
    # An applet that is gone may still speak, on its way when another took the window.
    if message.revision is None or message.revision >= window.began:
        view = window.views.get(message.view_id or "")
        view = view if view is not None and view.peer == peer else None
        # A view that is gone has said so before the last words of its document.
        host.updates.merge(window, message.data, peer, view, own=message.view_id is not None)
    if message.id is not None:
        host.outbox.send(peer, Result(message.id))


def _state_seen(host: Host, peer: str, message: StateSeen) -> None:
    view = host.windows.view(message.view_id)
    if view is not None and view.peer == peer:
        host.updates.seen(view, message.rev)


def _permit(host: Host, peer: str, message: Permit) -> None:
    window = host.meant(peer, message.window_id)
    kept = host.decisions.permit(window, message.permission, message.value)
    _decided(host, peer, window, message.id, keep=kept)


def _revoke(host: Host, peer: str, message: Revoke) -> None:
    window = host.meant(peer, message.window_id)
    host.decisions.revoke(window, message.permission)
    _decided(host, peer, window, message.id, keep=True)


def _decided(host: Host, peer: str, window: Window, call: str | None, *, keep: bool) -> None:
    """It holds at once; whoever asked is answered when it is kept, too."""
    host.decided(window)

    def done(outcome: Any) -> None:
        if call is not None:
            host.reply(Caller(peer, call), outcome)

    if keep:
        host.keep_decisions(done)
    else:
        done(None)


def _watch_windows(host: Host, peer: str, message: WatchWindows) -> None:
    host.desks.watch(peer, message.watch)


def _activate(host: Host, peer: str, message: Activate) -> None:
    host.desks.activate(host.meant(peer, message.window_id))


def _close_window(host: Host, peer: str, message: CloseWindow) -> None:
    host.close(host.meant(peer, message.window_id))


MESSAGES: dict[type, OnMessage] = {
    ViewOpened: _view_opened,
    ViewClosed: _view_closed,
    AppProtocolReady: _ready,
    AppProtocolResponse: _response,
    Interaction: _interaction,
    ConsoleLines: _console,
    Snapshot: _snapshot,
    SetState: _set_state,
    StateSeen: _state_seen,
    Permit: _permit,
    Revoke: _revoke,
    WatchWindows: _watch_windows,
    Activate: _activate,
    CloseWindow: _close_window,
}
