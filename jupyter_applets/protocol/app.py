"""The app protocol (seed 000): manifest, query, command, readiness, interactions; over the port and over the socket.

Port messages (`yaar:*`) travel between a page and an applet's frame. Socket messages (`APP_PROTOCOL_*`) travel
between a host and a page. Beyond the seed there are `hydrate`, `snapshot` and `console`, and these optional fields:
`timeoutMs` (the one deadline), `viewId` and `document` (which copy answers), `replayed`, and `code` beside `error`.
`dom` reads the document itself, registered or not.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from .base import Data, Json, Message

MANIFEST_KEY = "manifest"
CONSOLE_KEY = "__console"

Replay: TypeAlias = Literal["always", "last", "never"]
DomFormat: TypeAlias = Literal["json", "text"]


class StateDescriptor(Data, frozen=True):
    """What a state key holds. `snapshot` asks the host to keep its value and hand it to `hydrate` after a reload."""

    description: str = ""
    schema: dict[str, Json] | bool | None = None
    snapshot: bool = False


class CommandDescriptor(Data, frozen=True):
    """What a command does. `replay` says what a reloaded applet gets: every call, only the newest, or none."""

    description: str = ""
    params: dict[str, Json] | bool | None = None
    returns: dict[str, Json] | bool | None = None
    replay: Replay | None = None


class AppManifest(Data, frozen=True):
    """What an applet says it can do. `replay` is the default for commands that do not say."""

    app_id: str = ""
    name: str = ""
    state: dict[str, StateDescriptor] = {}
    commands: dict[str, CommandDescriptor] = {}
    replay: Replay | None = None

    def replay_of(self, command: str) -> Replay:
        descriptor = self.commands.get(command)
        return (descriptor and descriptor.replay) or self.replay or "always"

    def as_json(self) -> dict[str, Json]:
        """The manifest as the seed prints it: the four fields and the descriptions are always there."""
        plain: dict[str, Json] = msgspec.to_builtins(self)
        return {
            "appId": self.app_id,
            "name": self.name,
            **plain,
            "state": {k: {"description": "", **v} for k, v in plain.get("state", {}).items()},
            "commands": {k: {"description": "", **v} for k, v in plain.get("commands", {}).items()},
        }


class FileAssociation(Data, frozen=True, omit_defaults=False):
    """File types an applet opens: `command` is called with the file's content under `paramKey`."""

    extensions: list[str]
    command: str
    param_key: str


# ---- port: page → frame


class ManifestRequest(Message, frozen=True, tag="yaar:app-manifest-request"):
    request_id: str


class QueryRequest(Message, frozen=True, tag="yaar:app-query-request"):
    request_id: str
    state_key: str


class CommandRequest(Message, frozen=True, tag="yaar:app-command-request"):
    request_id: str
    command: str
    params: Json = msgspec.UNSET
    replayed: bool = False


class HydrateRequest(Message, frozen=True, tag="yaar:app-hydrate-request"):
    request_id: str
    state: dict[str, Json]


class DomRequest(Message, frozen=True, tag="yaar:app-dom-request"):
    request_id: str
    selector: str
    format: DomFormat = "json"


# ---- port: frame → page. `error` is null on success, as the seed prints it.


class ManifestResponse(Message, frozen=True, tag="yaar:app-manifest-response", omit_defaults=False):
    request_id: str
    manifest: AppManifest | None = None
    error: str | None = None
    code: str | msgspec.UnsetType = msgspec.UNSET


class QueryResponse(Message, frozen=True, tag="yaar:app-query-response", omit_defaults=False):
    request_id: str
    data: Json = None
    error: str | None = None
    code: str | msgspec.UnsetType = msgspec.UNSET


class CommandResponse(Message, frozen=True, tag="yaar:app-command-response", omit_defaults=False):
    request_id: str
    result: Json = None
    error: str | None = None
    code: str | msgspec.UnsetType = msgspec.UNSET


class HydrateResponse(Message, frozen=True, tag="yaar:app-hydrate-response", omit_defaults=False):
    request_id: str
    error: str | None = None
    code: str | msgspec.UnsetType = msgspec.UNSET


class DomResponse(Message, frozen=True, tag="yaar:app-dom-response", omit_defaults=False):
    request_id: str
    data: Json = None
    error: str | None = None
    code: str | msgspec.UnsetType = msgspec.UNSET


class AppReady(Message, frozen=True, tag="yaar:app-ready"):
    """Sent on `register`. Our SDK adds the manifest; an applet that speaks for itself may send the `appId` alone."""

    app_id: str = ""
    manifest: AppManifest | None = None
    hydrates: bool = False


class AppInteraction(Message, frozen=True, tag="yaar:app-interaction"):
    content: str


class AppSnapshot(Message, frozen=True, tag="yaar:app-snapshot"):
    """The values of the state keys marked `snapshot`, with every command in them that was answered before."""

    state: dict[str, Json]


Level: TypeAlias = Literal["debug", "log", "info", "warn", "error"]


class AppConsole(Message, frozen=True, tag="yaar:console"):
    """One console call or uncaught error. Arguments are already text: an applet's objects stay in the applet."""

    level: Level
    args: list[str]
    timestamp: float


PortRequest: TypeAlias = ManifestRequest | QueryRequest | CommandRequest | HydrateRequest | DomRequest
PortResponse: TypeAlias = ManifestResponse | QueryResponse | CommandResponse | HydrateResponse | DomResponse
PortNotice: TypeAlias = AppReady | AppInteraction | AppSnapshot | AppConsole


# ---- socket: host → page


class ManifestAsk(Data, frozen=True, tag_field="kind", tag="manifest"):
    pass


class QueryAsk(Data, frozen=True, tag_field="kind", tag="query"):
    state_key: str


class CommandAsk(Data, frozen=True, tag_field="kind", tag="command"):
    command: str
    params: Json = msgspec.UNSET
    replayed: bool = False


class HydrateAsk(Data, frozen=True, tag_field="kind", tag="hydrate"):
    state: dict[str, Json]


class DomAsk(Data, frozen=True, tag_field="kind", tag="dom"):
    """The elements that a CSS selector finds, as the page shows them now."""

    selector: str
    format: DomFormat = "json"


Ask: TypeAlias = ManifestAsk | QueryAsk | CommandAsk | HydrateAsk | DomAsk


class AppProtocolRequest(Message, frozen=True, tag="APP_PROTOCOL_REQUEST"):
    """`seq` counts the window's requests, so that whoever reads along sees a gap."""

    request_id: str
    window_id: str
    request: Ask
    seq: int | None = None
    timeout_ms: float | None = None
    view_id: str | None = None


# ---- socket: page → host. `error` is absent on success, as the seed's types say; null is accepted.


class ManifestAnswer(Data, frozen=True, tag_field="kind", tag="manifest"):
    manifest: AppManifest | None
    error: str | None = None
    code: str | None = None


class QueryAnswer(Data, frozen=True, tag_field="kind", tag="query", omit_defaults=False):
    data: Json = None
    error: str | msgspec.UnsetType | None = msgspec.UNSET
    code: str | msgspec.UnsetType | None = msgspec.UNSET


class CommandAnswer(Data, frozen=True, tag_field="kind", tag="command", omit_defaults=False):
    result: Json = None
    error: str | msgspec.UnsetType | None = msgspec.UNSET
    code: str | msgspec.UnsetType | None = msgspec.UNSET


class HydrateAnswer(Data, frozen=True, tag_field="kind", tag="hydrate"):
    error: str | None = None
    code: str | None = None


class DomAnswer(Data, frozen=True, tag_field="kind", tag="dom", omit_defaults=False):
    data: Json = None
    error: str | msgspec.UnsetType | None = msgspec.UNSET
    code: str | msgspec.UnsetType | None = msgspec.UNSET


Answer: TypeAlias = ManifestAnswer | QueryAnswer | CommandAnswer | HydrateAnswer | DomAnswer


class AppProtocolResponse(Message, frozen=True, tag="APP_PROTOCOL_RESPONSE"):
    request_id: str
    window_id: str
    response: Answer


class AppProtocolReady(Message, frozen=True, tag="APP_PROTOCOL_READY"):
    """An applet registered. A new `document` is a reload (restore it); the same one registered again (do not).

    `revision` is that of the content which the document shows.
    """

    window_id: str
    view_id: str | None = None
    document: int | None = None
    manifest: AppManifest | None = None
    hydrates: bool = False
    revision: int | None = None
