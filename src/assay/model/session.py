"""A session in the form that stores save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

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


def merged(base: SessionRecord, mine: SessionRecord, theirs: SessionRecord) -> SessionRecord:
    """A version that another process has stored, with the changes that this process has made since `base`."""
    before, own = set(base.subscriptions), set(mine.subscriptions)
    subscriptions = (set(theirs.subscriptions) | (own - before)) - (before - own)
    return replace(
        theirs,
        log_level=theirs.log_level if mine.log_level == base.log_level else mine.log_level,
        subscriptions=sorted(subscriptions),
        state=theirs.state if mine.state == base.state else mine.state,
        client_state=merged_state(base.client_state, mine.client_state, theirs.client_state),
        listening=theirs.listening or mine.listening,
    )


def merged_state(
    base: Mapping[str, bytes], mine: Mapping[str, bytes], theirs: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Another version of values by key, with the changes that were made to `base` here."""
    left = {key: data for key, data in theirs.items() if key in mine or key not in base}
    return left | {key: data for key, data in mine.items() if base.get(key) != data}
