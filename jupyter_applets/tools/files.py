"""Files: the tools of agents and kernels, and what an applet's page asks for over its socket.

A page that names a window speaks for its applet, and is held to that applet's permissions. A client that names none
speaks for the user, who is logged in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from ..errors import AppletError, ConsentNeeded, StorageFailed, ViewGone
from ..host.host import Host, Later, OnMessage
from ..host.requests import Caller
from ..host.subscriptions import Subscriber
from ..host.windows import Window
from ..protocol.base import Json
from ..protocol.channel import (
    FileContent,
    FileEntry,
    FileList,
    FileWritten,
    ListFiles,
    ReadFile,
    Subscribe,
    Unsubscribe,
    WriteFile,
)
from ..protocol.link import ErrorReply, Result
from ..protocol.tools import ListFilesTool, ReadFileTool, WriteFileTool
from ..workspace.audit import Actor
from ..workspace.files import Workspace
from ..workspace.paths import parse
from ..workspace.text import as_text, from_text, text_chunks
from .registry import tool
from .services import Services

MAX_TOOL_BYTES = 8 * 1024 * 1024
MAX_SUBSCRIPTIONS = 64
"""Of one window, in one page."""


# ---- tools


@tool
def read_file(host: Host, caller: Caller, given: ReadFileTool, timeout: float | None) -> Later:
    actor = Actor("kernel", host.session_of(caller))

    def work(services: Services) -> Json:
        found = services.workspace.read(given.path, actor, limit=MAX_TOOL_BYTES)
        content, encoding = as_text(found.data)
        return {"path": given.path, "content": content, "encoding": encoding, "version": found.version}

    return host.answer(caller, work, ordered=False)


@tool
def write_file(host: Host, caller: Caller, given: WriteFileTool, timeout: float | None) -> Later:
    actor = Actor("kernel", host.session_of(caller))

    def work(services: Services) -> Json:
        data = from_text(given.content, given.encoding)
        return {
            "path": given.path,
            "version": services.workspace.write(given.path, data, actor, if_match=given.if_match),
        }

    return host.answer(caller, work)


@tool
def list_files(host: Host, caller: Caller, given: ListFilesTool, timeout: float | None) -> Later:
    actor = Actor("kernel", host.session_of(caller))

    def work(services: Services) -> Json:
        return {"path": given.path, "files": msgspec.to_builtins(services.workspace.list(given.path, actor))}

    return host.answer(caller, work, ordered=False)


# ---- who may


class Asker:
    """Whoever asks for files: an applet in a window, or the user. `check` decides, on the host's own thread."""

    def __init__(
        self, host: Host, session: str, window: Window | None, consent: bool, revision: int | None = None
    ) -> None:
        """`revision` is that of the content that asks: what was replaced may not act as what replaced it."""
        self._host = host
        self._window = window
        self._consent = consent
        if window is None:
            self.actor = Actor("user", session)
        else:
            self.actor = Actor("applet", window.session, window.id, window.slug)
            if revision is not None and revision < window.revision:
                raise ViewGone(f"The content of window {window.id!r} was replaced.")

    def check(self, verb: Literal["read", "write"], path: str) -> None:
        if self._window is None or self._consent:
            return
        parse(path, "/", ())  # what is no path at all is not put before a person
        try:
            self._host.decisions.check_files(self._window, verb, path)
        except AppletError as e:
            refused = e
            self._host.perform(
                lambda services: services.workspace.audit.record(self.actor, verb, path, error=refused), _nothing
            )
            raise

    def knows(self, path: str) -> None:
        """It has read or written the file, and may replace it."""
        if self._window is not None:
            self._window.known_files.add(path)

    def write(self, services: Services, path: str, data: bytes, if_match: str | None) -> str:
        """On a worker's thread. A file that the applet has not read is not replaced before a person agrees."""
        try:
            self._check_known(services.workspace, path)
        except AppletError as e:
            services.workspace.audit.record(self.actor, "write", path, error=e)
            raise
        return services.workspace.write(path, data, self.actor, if_match=if_match)

    def _check_known(self, workspace: Workspace, path: str) -> None:
        window = self._window
        if window is not None and not self._consent:
            name = "/".join(workspace.check(path, self.actor))
            if name not in window.known_files and workspace.version(path, self.actor) is not None:
                raise ConsentNeeded(f"{window.title or window.id} would overwrite {path!r}, which it has not read.")


def _asker(host: Host, peer: str, message: Any) -> Asker:
    window = None if message.window_id is None else host.meant(peer, message.window_id)
    session = host.session_of(Caller(peer, ""))
    return Asker(host, session, window, message.consent, message.revision)


def _nothing(_: Any) -> None:
    """Nobody waits for it."""


def _answer(host: Host, peer: str, call: str | None, make: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Sends what `make(value)` makes, or the error, under the id of the message."""

    def done(outcome: Any) -> None:
        message = host.made(make, outcome)
        if isinstance(message, AppletError):
            message = ErrorReply(message.code, message.message, call, message.names)
        if message is not None:
            host.send(peer, message)

    return done


# ---- messages of pages


def _read(host: Host, peer: str, message: ReadFile) -> None:
    asker = _asker(host, peer, message)
    asker.check("read", message.path)

    def pieces(services: Services) -> Iterator[FileContent]:
        with services.workspace.open(message.path, asker.actor) as reading:
            asker.knows(reading.path)
            encoding, chunks = text_chunks(reading)
            shape: dict[str, Any] = {"id": message.id, "window_id": message.window_id}
            if encoding == "base64":
                shape["encoding"] = encoding
            if message.id is not None:
                shape["version"] = reading.version
            # One behind, so that the last piece is known to be the last.
            held = ""
            for chunk in chunks:
                if held:
                    yield FileContent(message.path, held, False, **shape)
                held = chunk
            yield FileContent(message.path, held, True, **shape)

    def failed(error: AppletError) -> ErrorReply:
        return ErrorReply(error.code, error.message, message.id, error.names)

    host.stream(peer, pieces, failed)


def _write(host: Host, peer: str, message: WriteFile) -> None:
    asker = _asker(host, peer, message)
    asker.check("write", message.path)

    def work(services: Services) -> tuple[str, str]:
        data = from_text(message.content, message.encoding)
        version = asker.write(services, message.path, data, message.if_match)
        return "/".join(services.workspace.check(message.path, asker.actor)), version

    def written(outcome: tuple[str, str]) -> FileWritten:
        name, version = outcome
        asker.knows(name)
        return FileWritten(message.path, version, message.id, message.window_id)

    host.perform(work, _answer(host, peer, message.id, written), peer=peer)


def _list(host: Host, peer: str, message: ListFiles) -> None:
    asker = _asker(host, peer, message)
    asker.check("read", message.path)

    def listed(found: list[Any]) -> FileList:
        files = [FileEntry(e.name, e.type, e.size, e.modified) for e in found]
        return FileList(message.path, files, message.id, message.window_id)

    host.perform(
        lambda services: services.workspace.list(message.path, asker.actor),
        _answer(host, peer, message.id, listed),
        peer=peer,
        ordered=False,
    )


def _subscribe(host: Host, peer: str, message: Subscribe) -> None:
    asker = _asker(host, peer, message)
    asker.check("read", message.path)
    if host.subscriptions.count(peer, message.window_id) >= MAX_SUBSCRIPTIONS:
        raise StorageFailed(f"{message.path!r} is not watched: {MAX_SUBSCRIPTIONS} paths are watched already.")

    def subscribed(_: None) -> Result | None:
        return None if message.id is None else Result(message.id, {"path": message.path})

    answer = _answer(host, peer, message.id, subscribed)

    def named(name: Any) -> None:
        if isinstance(name, AppletError):
            answer(name)
        else:
            host.subscribe(name, Subscriber(peer, message.window_id, message.path), answer)

    host.perform(lambda services: services.workspace.watchable(message.path, asker.actor), named, peer=peer)


def _unsubscribe(host: Host, peer: str, message: Unsubscribe) -> None:
    def unsubscribed(_: Any) -> Result | None:
        host.unsubscribe(Subscriber(peer, message.window_id, message.path))
        return None if message.id is None else Result(message.id, {"path": message.path})

    # In line behind a subscribe that is still under way.
    host.perform(lambda services: None, _answer(host, peer, message.id, unsubscribed), peer=peer)


MESSAGES: dict[type, OnMessage] = {
    ReadFile: _read,
    WriteFile: _write,
    ListFiles: _list,
    Subscribe: _subscribe,
    Unsubscribe: _unsubscribe,
}
