"""What every message has in common: camelCase on the wire, a `type` tag, limits, and the protocol version."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

PROTOCOL = 1
"""Raised when a peer of the older number could no longer be served."""

Json: TypeAlias = Any
"""Any JSON value. msgspec checks it while decoding; Python has no useful static type for it."""

READY_TIMEOUT = 5.0
QUERY_TIMEOUT = 5.0
COMMAND_TIMEOUT = 30.0

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The default limit for one message; the server's setting travels in `Welcome`."""


class Data(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """A part of a message: no tag of its own."""


class Message(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True, tag_field="type"):
    """A whole message, told apart by its `type`."""
