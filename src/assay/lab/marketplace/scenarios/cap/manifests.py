"""The manifests below `.well-known`, with the live lists before and after."""

from __future__ import annotations

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.cap_calling import looking_on
from assay.lab.marketplace.cap_listing import read_lists
from assay.lab.marketplace.cap_manifest import PLACES


@scenario("Manifests beside the live lists", exercises=("cap.manifests",), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    async with looking_on(stage):
        await read_lists(stage, peer)
        for place in PLACES.values():
            await _fetch(peer, place)
        await read_lists(stage, peer)


async def _fetch(peer: Peer, place: str) -> None:
    sent = await peer.http.call("GET", headers={"Accept": JSON}, target=place)
    await peer.http.follow(sent)
