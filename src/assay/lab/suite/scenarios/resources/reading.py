"""Every resource is listed and read."""

from __future__ import annotations

from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.revisions.revision import Opening


@scenario(
    "Resources, listed and read",
    exercises=("resources.declared", "resources.contents", "resources.blobs", "resources.uri-syntax"),
    official="resources-list",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    await peer.pages("resources/list", "resources")
    for uri in uris_of(stage.facts):
        await peer.request("resources/read", {"uri": uri})
