"""What the registry entry says, and what the server shows."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_REGISTRY_ENTRY
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.marketplace.cap_calling import looking_on
from assay.lab.marketplace.cap_listing import read_lists
from assay.lab.marketplace.checks.cap.registry import BATCH
from assay.lab.marketplace.declaring import BOTH
from assay.revisions.revision import Batching, Opening


@scenario(
    "The registry entry beside the server",
    exercises=("cap.registry",),
    needs=(A_REGISTRY_ENTRY,),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    stage.note(REGISTRY, entry=stage.surroundings.registry)
    peer = await stage.open()
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    async with looking_on(stage):
        await read_lists(stage, peer)
    if stage.revision.batching is not Batching.REFUSED:
        async with peer.probe(BATCH):
            await peer.offer([{"jsonrpc": "2.0", "id": peer.next_id(), "method": stage.plain}])
