"""Cancellation of a request by the driver."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.links.http import HttpLink

from .peer import Peer
from .pending import Pending

CANCELLED: Final = "notifications/cancelled"


async def cancel(peer: Peer, pending: Pending, reason: str = "not needed") -> None:
    """Cancel a request as the revision requires on this transport."""
    if isinstance(peer.link, HttpLink) and peer.revision.http.disconnect_cancels and pending.sent is not None:
        await peer.link.abort(pending.sent)
    else:
        await peer.notify(CANCELLED, {"requestId": pending.id, "reason": reason})
