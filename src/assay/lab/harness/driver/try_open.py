"""Asking to be let in, with a good token, a bad one or none. That it is refused is no end of anything."""

from __future__ import annotations

import msgspec

from assay.lab.harness.links.broken_off import TurnedAway
from assay.lab.harness.subject.bearer import NONE, USUAL
from assay.revisions.revision import Opening

from .peer import Peer, Reply
from .stage import Stage


async def try_open(stage: Stage, bearer: str) -> bool:
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


async def ask_by_query(stage: Stage) -> Reply:
    """Ask with the usual token in the address, and none in the header."""
    nobody = await stage.connect(NONE)
    address = nobody.http.address
    between = "&" if "?" in address.target else "?"
    target = f"{address.target}{between}access_token={stage.wallet.get(USUAL)}"
    nobody.http.address = msgspec.structs.replace(address, target=target)
    return await ask(stage, nobody)


async def come_in(stage: Stage) -> Peer:
    """The control of all that is refused: with the usual token, the subject does what it is asked."""
    peer = await stage.open()
    await peer.request(stage.plain)
    return peer
