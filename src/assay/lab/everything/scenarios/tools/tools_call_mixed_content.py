"""A tool that answers with several kinds of content."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tools-call-mixed-content",
    "A tool answers with several kinds of content",
    needs=(fixture_tool("test_multiple_content_types"),),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_multiple_content_types"), {})
