"""The list of tools, wanted of any server, whether it declares tools or not."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario


@scenario("Tools are there if they are declared", exercises=("tools.declared",))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("tools/list")
