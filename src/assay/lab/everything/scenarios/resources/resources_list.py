"""The list of resources."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_RESOURCE, declares


@official_scenario(
    "resources-list",
    "The list of resources",
    needs=(
        declares("resources"),
        A_RESOURCE,
    ),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/list", "resources")
