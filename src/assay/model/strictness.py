"""Rules that a server can enforce beyond the specification."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Strictness(Struct, frozen=True, kw_only=True):
    """Rules to enforce beyond the specification; all are off by default.

    `version_header`, `unknown_tool` and `single` contradict it: clients that conform may be refused.
    """

    initialized: bool = False
    """Refuse requests before `notifications/initialized`."""

    sessions: bool = False
    """On HTTP, require a session in the revisions with sessions."""

    negotiated_version: bool = False
    """On HTTP, refuse an `MCP-Protocol-Version` other than the negotiated one."""

    unique_ids: bool = False
    """Refuse a request id that the client has used before in its session, in the revisions with sessions."""

    statuses: bool = False
    """On HTTP, send JSON-RPC errors with status 400, or 500 for internal errors."""

    version_header: bool = False
    """On HTTP, require `MCP-Protocol-Version` after the handshake, with the negotiated version."""

    unknown_tool: bool = False
    """Answer calls of unknown tools with -32601, like unknown methods, instead of -32602."""

    single: bool = False
    """Refuse batches in every revision, including those with batches."""


LENIENT: Final = Strictness()
