"""The list of tools, every page of it."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOOL, declares
from assay.lab.harness.scenario import scenario


@scenario(
    "Every tool's definition",
    exercises=("tools.input-schema", "tools.names"),
    needs=(declares("tools"), A_TOOL),
    official="tools-list",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
