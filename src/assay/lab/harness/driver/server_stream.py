"""Where a server may speak besides its answers, in the revisions with a handshake."""

from __future__ import annotations

from assay.lab.harness.transport import Transport

from .peer import Peer
from .stage import Stage


async def open_ears(stage: Stage, peer: Peer) -> bool:
    """Open the stream for what belongs to no request; whether the server may be heard there.

    On a single channel nothing has to be opened. A server that neither opens nor refuses the stream while it
    answers other requests is taken to keep the head until it has something to say; a refusal that comes
    after all ends the waiting for what was to be heard there.
    """
    if stage.transport is not Transport.HTTP or not stage.revision.http.sessions:
        return stage.transport is not Transport.HTTP
    peer.ears = await peer.http.listen()
    await peer.taken(peer.ears)
    return peer.ears.may_stream
