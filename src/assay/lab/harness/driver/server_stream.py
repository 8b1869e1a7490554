"""The stream for messages of a server that belong to no request, in revisions with a handshake."""

from __future__ import annotations

from assay.lab.harness.transport import Transport

from .peer import Peer
from .stage import Stage


async def open_server_stream(stage: Stage, peer: Peer) -> bool:
    """Open the stream, and return whether the server may send messages on it.

    Transports with a single channel need no extra stream. A server that neither opens nor refuses the stream
    while it answers other requests is assumed to send the head with its first message; a late refusal ends
    the wait for messages on the stream.
    """
    if stage.transport is not Transport.HTTP or not stage.revision.http.sessions:
        return stage.transport is not Transport.HTTP
    peer.server_stream = await peer.http.listen()
    await peer.wait_accepted(peer.server_stream)
    return peer.server_stream.may_stream
