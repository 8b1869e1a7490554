"""Where a server may speak besides its answers, in the revisions with a handshake."""

from __future__ import annotations

from assay.lab.harness.http_text import EVENT_STREAM
from assay.lab.harness.peer import Peer
from assay.lab.harness.stage import Stage
from assay.lab.harness.transport import Transport


async def open_ears(stage: Stage, peer: Peer) -> bool:
    """Open the stream for what belongs to no request; whether the server can be heard there.

    On a single channel nothing has to be opened.
    """
    if stage.transport is not Transport.HTTP or not stage.revision.http.sessions:
        return stage.transport is not Transport.HTTP
    head = await (await peer.http.listen()).settled(peer.patience)
    return head is not None and head.status == 200 and head.media_type == EVENT_STREAM
