"""A session as a store keeps it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from .definition import ClientCapabilities, Implementation


class SessionRecord(Struct, kw_only=True):
    """What must survive for another process, or a restart, to go on with a session."""

    id: str
    principal: Any = None
    revision: str
    capabilities: ClientCapabilities
    client: Implementation | None = None
    log_level: str | None = None
    subscriptions: list[str]
    state: str
    kept: dict[str, bytes] = field(default_factory=dict)
    """What handlers keep for this client: JSON by key."""
