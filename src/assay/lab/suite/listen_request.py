"""Where notifications come that belong to no request: each revision and transport has its own place."""

from __future__ import annotations

from typing import Any

from assay.lab.harness import Stage
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.server_stream import open_ears
from assay.revisions.revision import Opening

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


async def listen(stage: Stage, peer: Peer, *wishes: str) -> set[str]:
    """Open the place where these would come; returns those that the server lets us hear there."""
    if stage.revision.opening is Opening.PER_REQUEST:
        return await _subscribed(peer, wishes)
    return set(wishes) if await open_ears(stage, peer) else set()


async def _subscribed(peer: Peer, wishes: tuple[str, ...]) -> set[str]:
    pending = await peer.start("subscriptions/listen", {"notifications": dict.fromkeys(wishes, True)})
    heard = await peer.hear(ACKNOWLEDGED, during=pending)
    granted: Any = None if heard is None else heard.params.get("notifications")
    return {wish for wish in wishes if isinstance(granted, dict) and granted.get(wish) is True}
