"""Rules that a server can enforce beyond the specification."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Strictness(Struct, frozen=True, kw_only=True):
    """Rules to enforce beyond the specification; all are off by default."""

    initialized: bool = False
    """Refuse requests before `notifications/initialized`."""

    sessions: bool = False
    """On HTTP, require a session in the revisions with sessions."""

    version_header: bool = False
    """On HTTP, require `MCP-Protocol-Version` after the handshake, with the negotiated version."""

    statuses: bool = False
    """On HTTP, send JSON-RPC errors with status 400, or 500 for internal errors."""

    unknown_tool: bool = False
    """Answer calls of unknown tools with -32601, like unknown methods, instead of -32602."""

    single: bool = False
    """Refuse batches in every revision, including those with batches."""


LENIENT: Final = Strictness()
