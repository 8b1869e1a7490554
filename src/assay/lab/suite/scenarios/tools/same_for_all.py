"""Two connections read the list of tools by turns, while one of them asks for other things too."""

from __future__ import annotations

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.scenario import scenario


@scenario(
    "The list of tools, read on two connections",
    exercises=("tools.available", "tools.same-for-all"),
    needs=(declares("tools"),),
)
async def drive(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    for peer in (one, other):
        await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools[:1]:
        await one.call(tool, arguments_for(tool))
    await one.request("tools/call", {"name": "no-such-tool-of-the-lab", "arguments": {}})
    for peer in (one, other, one, other):
        await peer.pages("tools/list", "tools")
