"""The list of prompts, wanted of any server, whether it declares prompts or not."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario


@scenario("Prompts are there if they are declared", exercises=("prompts.declared",))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/list")
