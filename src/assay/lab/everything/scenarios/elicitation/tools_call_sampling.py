"""A tool that asks the client's model."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage

TOOL = "test_sampling"


@official_scenario("tools-call-sampling", "A tool asks the client's model", needs=(fixture_tool(TOOL),))
async def drive(stage: Stage) -> None:
    peer = await stage.open(sampling={})
    await open_ears(stage, peer)
    await peer.call(tool_of(stage.facts, TOOL), {"prompt": "Test prompt for sampling, of the lab"})
