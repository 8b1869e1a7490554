"""A session in the form that stores save."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from .definition import ClientCapabilities, Implementation


class SessionRecord(Struct, kw_only=True):
    """What another process needs to continue a session, for example after a restart."""

    id: str
    principal: Any = None
    revision: str
    capabilities: ClientCapabilities
    client: Implementation | None = None
    log_level: str | None = None
    subscriptions: list[str]
    state: str
    client_state: dict[str, bytes] = field(default_factory=dict)
    """The data of `Context.session`: JSON by key."""
    listening: bool = False
    """Whether its client has followed the stream of messages that belong to no request."""
    version: int = 0
    """Counts changes in stores that several processes use."""
