"""The exceptions of jupyter_applets, each with the code that stands for it on the wire.

AppletError
├── WindowError                   the window that was named cannot take the call
│   ├── WindowNotFound            no window has that id
│   ├── AmbiguousWindow           two sessions have a window with that id
│   ├── NotAnApplet               the window's renderer cannot answer
│   ├── NotOptedIn                the applet's app.json lacks "appProtocol": true
│   ├── NotShown                  no page shows the window
│   └── NotReady                  the applet is shown but never called register
├── CallError                     the applet cannot take this call, or failed at it
│   ├── UnknownStateKey
│   ├── UnknownCommand
│   ├── InvalidParams             the params break the command's JSON Schema
│   ├── HandlerFailed             the applet's own handler threw
│   ├── ResultNotJson             the handler returned what JSON cannot hold
│   ├── TooLarge                  a message is over the size limit
│   └── TooManyCalls              too many calls are under way already
├── Interrupted                   the call was under way and will not be answered
│   ├── CallTimeout               (also a TimeoutError)
│   ├── Cancelled
│   ├── ViewGone                  the page that ran the call went away
│   └── LinkLost                  (also a ConnectionError) the way to the host was cut
├── RouteError                    this kind of call is not possible here
│   ├── BlockingCallUnavailable
│   └── AwaitUnavailable
├── WorkspaceError                a file cannot be reached or changed
│   ├── PathRefused               the path leads out, or to what applets may not have
│   ├── FileMissing               (also a FileNotFoundError)
│   ├── FileTooLarge              more than this verb carries
│   ├── VersionConflict           the file is not the version that was to be replaced
│   └── StorageFailed             the disk is full, or the system refused
├── StoreError                    a saved applet cannot be had
│   ├── InvalidSlug
│   ├── AppletNotFound            no applet is saved under that slug
│   └── BrokenApplet              its folder does not hold a whole applet
├── SessionError                  an agent cannot be spoken to, or did not answer
│   ├── SessionNotFound           no session has that id
│   ├── StreamNotFound            no turn has that stream id
│   ├── NoAgent                   nobody answers in the session
│   ├── AgentFailed               the agent raised
│   ├── AgentLost                 the kernel that was answering went away
│   ├── TooDeep                   agents and applets call each other in a circle
│   └── StateMissing              the agent ended without setting the state that was asked for
├── NotPermitted                  the applet may not do this
│   ├── PermissionNeeded          nobody has decided yet: a person is to be asked
│   ├── ConsentNeeded             it would replace a file that the applet has not read: a person is to be asked
│   └── PermissionDenied          a person said no
├── InvalidMessage                a message of the wrong shape
├── ProtocolMismatch              kernel, server and page speak different protocol versions
├── UnknownTool                   a call names no tool of the host
├── InvalidArguments              a tool's arguments are of the wrong shape
├── Forbidden
└── InternalError                 a bug on our side; the log of that side has the traceback
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

__all__ = [
    "AgentFailed",
    "AgentLost",
    "AmbiguousWindow",
    "AppletError",
    "AppletNotFound",
    "AwaitUnavailable",
    "BlockingCallUnavailable",
    "BrokenApplet",
    "CallError",
    "CallTimeout",
    "Cancelled",
    "ConsentNeeded",
    "FileMissing",
    "FileTooLarge",
    "Forbidden",
    "HandlerFailed",
    "InternalError",
    "Interrupted",
    "InvalidArguments",
    "InvalidMessage",
    "InvalidParams",
    "InvalidSlug",
    "LinkLost",
    "NoAgent",
    "NotAnApplet",
    "NotOptedIn",
    "NotPermitted",
    "NotReady",
    "NotShown",
    "PathRefused",
    "PermissionDenied",
    "PermissionNeeded",
    "ProtocolMismatch",
    "ResultNotJson",
    "RouteError",
    "SessionError",
    "SessionNotFound",
    "StateMissing",
    "StorageFailed",
    "StoreError",
    "StreamNotFound",
    "TooDeep",
    "TooLarge",
    "TooManyCalls",
    "UnknownCommand",
    "UnknownStateKey",
    "UnknownTool",
    "VersionConflict",
    "ViewGone",
    "WindowError",
    "WindowNotFound",
    "WorkspaceError",
    "from_wire",
]


class AppletError(Exception):
    """The root: a code for programs, a sentence for people, and the valid names where there are any."""

    code: ClassVar[str] = "APPLET_ERROR"

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.names = list(names)


class WindowError(AppletError):
    code = "WINDOW_ERROR"


class WindowNotFound(WindowError):
    code = "WINDOW_NOT_FOUND"


class AmbiguousWindow(WindowError):
    code = "AMBIGUOUS_WINDOW"


class NotAnApplet(WindowError):
    code = "NOT_AN_APPLET"


class NotOptedIn(WindowError):
    code = "NOT_OPTED_IN"


class NotShown(WindowError):
    code = "NOT_SHOWN"


class NotReady(WindowError):
    code = "NOT_READY"


class CallError(AppletError):
    code = "CALL_ERROR"


class UnknownStateKey(CallError):
    code = "UNKNOWN_STATE_KEY"


class UnknownCommand(CallError):
    code = "UNKNOWN_COMMAND"


class InvalidParams(CallError):
    code = "INVALID_PARAMS"


class HandlerFailed(CallError):
    code = "HANDLER_FAILED"


class ResultNotJson(CallError):
    code = "RESULT_NOT_JSON"


class TooLarge(CallError):
    code = "TOO_LARGE"


class TooManyCalls(CallError):
    code = "TOO_MANY_CALLS"


class Interrupted(AppletError):
    code = "INTERRUPTED"


class CallTimeout(Interrupted, TimeoutError):
    code = "TIMEOUT"


class Cancelled(Interrupted):
    code = "CANCELLED"


class ViewGone(Interrupted):
    code = "VIEW_GONE"


class LinkLost(Interrupted, ConnectionError):
    code = "LINK_LOST"


class RouteError(AppletError):
    code = "ROUTE_ERROR"


class BlockingCallUnavailable(RouteError):
    code = "BLOCKING_CALL_UNAVAILABLE"


class AwaitUnavailable(RouteError):
    code = "AWAIT_UNAVAILABLE"


class WorkspaceError(AppletError):
    code = "WORKSPACE_ERROR"


class PathRefused(WorkspaceError):
    code = "PATH_REFUSED"


class FileMissing(WorkspaceError, FileNotFoundError):
    code = "FILE_MISSING"


class FileTooLarge(WorkspaceError):
    code = "FILE_TOO_LARGE"


class VersionConflict(WorkspaceError):
    code = "VERSION_CONFLICT"


class StorageFailed(WorkspaceError):
    code = "STORAGE_FAILED"


class StoreError(AppletError):
    code = "STORE_ERROR"


class InvalidSlug(StoreError):
    code = "INVALID_SLUG"


class AppletNotFound(StoreError):
    code = "APPLET_NOT_FOUND"


class BrokenApplet(StoreError):
    code = "BROKEN_APPLET"


class SessionError(AppletError):
    code = "SESSION_ERROR"


class SessionNotFound(SessionError):
    code = "SESSION_NOT_FOUND"


class StreamNotFound(SessionError):
    code = "STREAM_NOT_FOUND"


class NoAgent(SessionError):
    code = "NO_AGENT"


class AgentFailed(SessionError):
    code = "AGENT_FAILED"


class AgentLost(SessionError):
    code = "AGENT_LOST"


class TooDeep(SessionError):
    code = "TOO_DEEP"


class StateMissing(SessionError):
    code = "STATE_MISSING"


class NotPermitted(AppletError):
    code = "NOT_PERMITTED"


class PermissionNeeded(NotPermitted):
    code = "PERMISSION_NEEDED"


class ConsentNeeded(NotPermitted):
    code = "CONSENT_NEEDED"


class PermissionDenied(NotPermitted):
    code = "PERMISSION_DENIED"


class InvalidMessage(AppletError):
    code = "INVALID_MESSAGE"


class ProtocolMismatch(AppletError):
    code = "PROTOCOL_MISMATCH"


class UnknownTool(AppletError):
    code = "UNKNOWN_TOOL"


class InvalidArguments(AppletError):
    code = "INVALID_ARGUMENTS"


class Forbidden(AppletError):
    code = "FORBIDDEN"


class InternalError(AppletError):
    code = "INTERNAL_ERROR"


def _tree(root: type[AppletError]) -> dict[str, type[AppletError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found.update(_tree(child))
    return found


_BY_CODE = _tree(AppletError)


def from_wire(code: str, message: str, names: Sequence[str] = ()) -> AppletError:
    """The exception that a wire error stands for; an unknown code gives the root class."""
    return _BY_CODE.get(code, AppletError)(message, names)
