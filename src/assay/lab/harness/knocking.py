"""Asking to be let in, with a good token, a bad one or none. That it is refused is no end of anything."""

from __future__ import annotations

from assay.revisions.revision import Opening

from .broken_off import TurnedAway
from .peer import Peer, Reply
from .stage import Stage


async def knock(stage: Stage, bearer: str) -> bool:
    """Open a conversation with a token of that kind; whether the subject let us in."""
    try:
        peer = await stage.connect(bearer)
    except TurnedAway:
        return False
    return (await ask(stage, peer)).is_result


async def ask(stage: Stage, peer: Peer) -> Reply:
    """What any conversation can begin with."""
    if stage.revision.opening is Opening.HANDSHAKE:
        return await peer.initialize()
    return await peer.request(stage.plain)


async def come_in(stage: Stage) -> Peer:
    """The control of all that is refused: with the usual token, the subject does what it is asked."""
    peer = await stage.open()
    await peer.request(stage.plain)
    return peer
