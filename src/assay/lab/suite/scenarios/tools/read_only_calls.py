"""Calls of every tool that says it only reads, with arguments made from its schema."""

from __future__ import annotations

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_READ_ONLY_TOOL
from assay.lab.harness.scenario import scenario


@scenario(
    "Tools that only read",
    exercises=(
        "tools.failure",
        "tools.structured-output",
        "tools.structured-object",
        "tools.structured-text",
        "tools.embedded-resource",
    ),
    needs=(A_READ_ONLY_TOOL,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools:
        await peer.call(tool, arguments_for(tool))
