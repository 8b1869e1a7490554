"""A call of a tool that is not in the list."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.scenario import scenario


@scenario("A tool that does not exist", exercises=("tools.unknown-name",), needs=(declares("tools"),))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    await peer.request("tools/call", {"name": "no-such-tool-of-the-lab", "arguments": {}})
