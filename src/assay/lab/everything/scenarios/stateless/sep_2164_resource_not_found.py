"""A resource that is there, and one that is not."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares

NOWHERE = "test://nonexistent-resource-for-conformance-testing"


@official_scenario(
    "sep-2164-resource-not-found", "A resource that does not exist", needs=(declares("resources"),)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/list")
    for resource in stage.facts.resources[:1]:
        await peer.request("resources/read", {"uri": resource.get("uri")})
    await peer.request("resources/read", {"uri": NOWHERE})
