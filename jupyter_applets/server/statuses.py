"""Which HTTP status an error is told with."""

from __future__ import annotations

from ..errors import (
    AmbiguousWindow,
    AppletError,
    AppletNotFound,
    BrokenApplet,
    ConsentNeeded,
    FileMissing,
    FileTooLarge,
    Forbidden,
    InternalError,
    NotPermitted,
    PathRefused,
    SessionNotFound,
    StorageFailed,
    StreamNotFound,
    TooDeep,
    TooLarge,
    TooManyCalls,
    VersionConflict,
    WindowNotFound,
)

_STATUSES: list[tuple[type[AppletError], int]] = [
    (FileMissing, 404),
    (AppletNotFound, 404),
    (WindowNotFound, 404),
    (SessionNotFound, 404),
    (StreamNotFound, 404),
    (TooManyCalls, 429),
    (TooDeep, 429),
    (AmbiguousWindow, 409),
    (ConsentNeeded, 409),
    (BrokenApplet, 409),
    (VersionConflict, 412),
    (FileTooLarge, 413),
    (TooLarge, 413),
    (PathRefused, 403),
    (NotPermitted, 403),
    (Forbidden, 403),
    (StorageFailed, 507),
    (InternalError, 500),
]


def status_of(error: AppletError) -> int:
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 400)
