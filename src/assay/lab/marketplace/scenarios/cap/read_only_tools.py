"""Tools that say they only read are called, and the disk is looked at around each call."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_READ_ONLY_TOOL
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.cap_calling import MOST, call_watched, looking_on
from assay.lab.marketplace.declaring import BOTH


@scenario(
    "Tools that only read, and what they do",
    exercises=("cap.effects", "cap.disk"),
    needs=(A_READ_ONLY_TOOL,),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools[:MOST]:
        async with looking_on(stage):
            await call_watched(stage, peer, tool)
