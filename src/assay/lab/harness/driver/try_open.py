"""Opens conversations with a valid token, an invalid one or none. A refusal does not abort the scenario."""

from __future__ import annotations

import msgspec

from assay.lab.harness.links.broken_off import ConnectionRejected
from assay.lab.harness.subject.bearer import NONE, USUAL
from assay.revisions.revision import Opening

from .peer import Peer, Reply
from .stage import Stage


async def try_open(stage: Stage, bearer: str) -> bool:
    """Open a conversation with a token of this kind; returns whether the subject accepted it."""
    try:
        peer = await stage.connect(bearer)
    except ConnectionRejected:
        return False
    return (await send_opening(stage, peer)).is_result


async def send_opening(stage: Stage, peer: Peer) -> Reply:
    """Send a request that can open any conversation."""
    if stage.revision.opening is Opening.HANDSHAKE:
        return await peer.initialize()
    return await peer.request(stage.plain)


async def send_opening_by_query(stage: Stage) -> Reply:
    """Send a request with the usual token in the URL, and none in the header."""
    peer = await stage.connect(NONE)
    address = peer.http.address
    separator = "&" if "?" in address.target else "?"
    target = f"{address.target}{separator}access_token={stage.tokens.get(USUAL)}"
    peer.http.address = msgspec.structs.replace(address, target=target)
    return await send_opening(stage, peer)


async def open_admitted(stage: Stage) -> Peer:
    """The control experiment for refusals: with the usual token, the subject answers."""
    peer = await stage.open()
    await peer.request(stage.plain)
    return peer
