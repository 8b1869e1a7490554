"""Where a server may ask more of its clients than the specification does."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Strictness(Struct, frozen=True, kw_only=True):
    """What a server insists on although the specification does not. Nothing unless it is switched on."""

    initialized: bool = False
    """Requests are refused until `notifications/initialized` has come."""

    sessions: bool = False
    """On HTTP, requests are served in sessions only, in the revisions that have sessions."""

    version_header: bool = False
    """On HTTP, `MCP-Protocol-Version` is required after the handshake, and must name what was agreed on."""

    statuses: bool = False
    """On HTTP, an answer that is a JSON-RPC error has status 400, or 500 where the fault is the server's."""

    unknown_tool: bool = False
    """A call of an unknown tool is answered with -32601, as an unknown method is, instead of -32602."""

    single: bool = False
    """Batches are refused in every revision, also in those that have them."""


LENIENT: Final = Strictness()
