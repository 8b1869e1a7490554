"""A tool that answers with an embedded resource."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tools-call-embedded-resource",
    "A tool answers with an embedded resource",
    needs=(fixture_tool("test_embedded_resource"),),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_embedded_resource"), {})
