"""The list of tools, read three times."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOOL, declares

READINGS = 3


@official_scenario("tools-list", "The list of tools", needs=(declares("tools"), A_TOOL))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for _ in range(READINGS):
        await peer.pages("tools/list", "tools")
