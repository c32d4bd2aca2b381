"""`api/sessions`, `api/message`, `api/history` and what agents displayed: speaking with agents over HTTP.

A request that names a window speaks for its applet, and is held to that applet's permissions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from html import escape
from typing import Any, TypeVar

from tornado import web

from ...errors import AppletError, Forbidden, InvalidArguments, SessionNotFound
from ...host import Host
from ...host.sessions import Session, Turn
from ...host.speaking import applet_turn, check_applet, new_session, slug_of, with_session
from ...host.windows import Window
from ...protocol.base import Data, Json
from ...protocol.markers import clean
from ...protocol.sessions import ChatMessage, Source
from ...tools.sessions import messages_of, sessions_of
from ...workspace.text import as_text
from ..base import ApiHandler

T = TypeVar("T")


class MessageBody(Data, frozen=True):
    prompt: str
    source: Source = "user"
    applet_slug: str | None = None
    applet_state: dict[str, Json] | None = None
    image_data: str | None = None
    correlation_id: str | None = None
    session: str | None = None


class SessionBody(Data, frozen=True):
    parent: str | None = None


class SessionRoute(ApiHandler):
    """What the routes of sessions have in common: who asks, and what the host answers later."""

    async def prepare(self) -> None:  # type: ignore[override]
        await super().prepare()
        # Here `session` is the one that is asked about; an applet's own may be another.
        self.window = self.named_window("windowSession" if self.argument("windowSession") is not None else "session")
        if self.window is not None:
            revision = self.argument("revision")
            given = int(revision) if revision is not None and revision.isdecimal() else None
            check_applet(self.driver.host, self.window, given, consent=self.argument("consent") == "1")

    async def later(self, begin: Callable[[Host, Callable[[T | AppletError], None]], None]) -> T:
        """`begin(host, done)` starts something of which `done` hears when it is through."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def done(outcome: T | AppletError) -> None:
            if future.done():
                return
            if isinstance(outcome, AppletError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.driver.apply(lambda host: begin(host, done))
        return await future

    async def session(self, session_id: str) -> Session:
        return await self.later(lambda host, done: with_session(host, session_id, done))

    async def loaded(self, session_id: str) -> Session:
        """The session with what was said in it."""
        session = await self.session(session_id)
        self.check_reading(session)

        def begin(host: Host, done: Callable[[None], None]) -> None:
            host.keeping.load(session, lambda: done(None))

        await self.later(begin)
        return session

    def check_reading(self, session: Session) -> None:
        """An applet reads what is said in its notebook, and in sessions that were made there."""
        if self.window is not None and self.window.session not in (session.id, session.parent):
            raise Forbidden(f"{self.window.title or self.window.id} may not read session {session.id!r}.")

    def active(self, given: str | None = None) -> str:
        """The session that is meant where none is named: the applet's own, else the one a person last turned to."""
        host = self.driver.host
        named = given or self.argument("session") or (self.window.session if self.window is not None else None)
        session = named or host.sessions.active
        if session is None:
            raise SessionNotFound("No session is active: open a Chat, or name one with ?session=.")
        return session

    async def say(self, session_id: str) -> Turn:
        body = self.json_body(MessageBody)
        session = await self.session(session_id)
        window: Window | None = self.window

        def begin(host: Host, done: Callable[[Turn | AppletError], None]) -> None:
            known: dict[str, Any] = {"slug": clean(body.applet_slug or "") if body.source != "user" else None}
            source = body.source
            state_of = window or host.desks.meant(session.id)
            if window is not None:
                # Whatever it says of itself: this is the applet of that window.
                depth, parent = applet_turn(host, window, by_person=self.argument("byPerson") == "1")
                source, known = "applet", {"slug": slug_of(window), "window": window, "depth": depth}
                known["nested"] = parent is not None and parent.session is session
            if body.applet_state and state_of is not None:
                host.updates.merge(state_of, body.applet_state)
            host.turns.start(
                session,
                body.prompt,
                source,
                done,
                image_data=body.image_data,
                correlation_id=body.correlation_id,
                **known,
            )

        return await self.later(begin)


class SessionsHandler(SessionRoute):
    @web.authenticated
    async def get(self) -> None:
        stored = await self.driver.run(lambda services: services.sessions.all())
        found = sessions_of(self.driver.host, stored)
        if self.window is not None:
            own = self.window.session
            found = [session for session in found if own in (session["id"], session["parent"])]
        self.answer(found)

    @web.authenticated
    async def post(self) -> None:
        body = self.json_body(SessionBody) if self.request.body.strip() else SessionBody()
        parent = self.window.session if self.window is not None else body.parent
        session = self.driver.apply(lambda host: new_session(host, parent))
        self.set_status(201)
        self.answer({"sessionId": session.id})


class MessagesHandler(SessionRoute):
    @web.authenticated
    async def get(self, session_id: str) -> None:
        """As `api/history`."""
        self.answer(messages_of(await self.loaded(session_id)))

    @web.authenticated
    async def post(self, session_id: str) -> None:
        turn = await self.say(session_id)
        self.answer({"streamId": turn.id, "sessionId": turn.session.id})


class MessageHandler(SessionRoute):
    @web.authenticated
    async def post(self) -> None:
        """The same in the active session."""
        turn = await self.say(self.active(self.json_body(MessageBody).session))
        self.answer({"streamId": turn.id, "sessionId": turn.session.id})


class HistoryHandler(SessionRoute):
    @web.authenticated
    async def get(self) -> None:
        session = await self.loaded(self.active())
        before, limit = self._number("before"), self._number("limit")
        found = session.messages(before, limit, hidden=self.argument("hidden") == "1")
        if "text/html" in self.request.headers.get("Accept", ""):
            self.set_header("Content-Type", "text/html; charset=UTF-8")
            self.finish("\n".join(_html(message) for message in found))
        else:
            self.answer(found)

    def _number(self, name: str) -> int | None:
        given = self.argument(name)
        if given is None:
            return None
        if not given.isdecimal():
            raise InvalidArguments(f"{name} is a whole number, not {given!r}.")
        return int(given)


class OutputHandler(SessionRoute):
    @web.authenticated
    async def get(self, session_id: str, name: str) -> None:
        """What an agent displayed, or, with `json=1`, as the chat gets it."""
        self.check_reading(await self.session(session_id))
        mime, data = await self.driver.run(lambda services: services.sessions.get_output(session_id, name))
        if self.argument("json") == "1":
            content, encoding = as_text(data)
            self.answer({"name": name, "mime": mime, "data": content, "encoding": encoding})
            return
        self.set_header("Content-Type", mime)
        self.set_header("Content-Disposition", "attachment")
        self.finish(data)


def _html(message: ChatMessage) -> str:
    """A bubble as the seed has it."""
    text = escape(message.content)
    if message.role == "assistant":
        error = f'<div class="error">{escape(message.error)}</div>' if message.error else ""
        return f'<div class="message assistant">{text}{error}</div>'
    if message.source == "user":
        return f'<div class="message user">{text}</div>'
    kind = "applet" if message.source == "applet" else "agent"
    slug = escape(message.applet_slug or "", quote=True)
    return f'<div class="message user {kind}-invoked" data-{kind}-source="{slug}">{text}</div>'
