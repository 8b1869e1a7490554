"""Resources are read twice; those that differ are watched and read again."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_RESOURCE
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.subscription import LISTEN
from assay.revisions.revision import Opening

MOST = 10


@scenario("Resources, read twice", exercises=("cap.stable", "cap.tags"), needs=(A_RESOURCE,), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/list", "resources")
    restless = [uri for uri in uris_of(stage.facts)[:MOST] if not await _reads_alike(peer, uri)]
    if restless:
        await _watch(stage, peer, restless)
        for uri in restless:
            await _reads_alike(peer, uri)
        await peer.pages("resources/list", "resources")


async def _reads_alike(peer: Peer, uri: str) -> bool:
    first = await peer.request("resources/read", {"uri": uri})
    second = await peer.request("resources/read", {"uri": uri})
    return _bytes(first) == _bytes(second)


def _bytes(reply: Reply) -> list[Any]:
    """What was read, without what is said of it: that may tell the time."""
    found = reply.result.get("contents")
    held = [one for one in (found if isinstance(found, list) else []) if isinstance(one, dict)]
    return [(one.get("text"), one.get("blob")) for one in held]


async def _watch(stage: Stage, peer: Peer, uris: list[str]) -> None:
    """Be where a change would be announced, if the server announces any."""
    if not stage.facts.declares("resources", "subscribe"):
        return
    if stage.revision.opening is Opening.PER_REQUEST:
        pending = await peer.start(LISTEN, {"notifications": {"resourceSubscriptions": uris}})
        await peer.hear(ACKNOWLEDGED, during=pending)
        return
    await open_ears(stage, peer)
    for uri in uris:
        await peer.request("resources/subscribe", {"uri": uri})
