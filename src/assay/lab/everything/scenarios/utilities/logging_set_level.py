"""A log level is set, and what is below it must not be sent."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares

TOOL = "test_tool_with_logging"


@official_scenario("logging-set-level", "A log level is set and kept to", needs=(declares("logging"),))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await open_ears(stage, peer)
    loud = [tool for tool in stage.facts.tools if tool.get("name") == TOOL]
    for level in ("info", "emergency"):
        await peer.request("logging/setLevel", {"level": level})
        # What it logs under the first level is what it keeps to itself under the second.
        for tool in loud:
            await peer.call(tool, {})
