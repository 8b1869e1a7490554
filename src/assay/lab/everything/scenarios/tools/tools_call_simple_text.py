"""A tool that answers with a text."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tools-call-simple-text", "A tool answers with a text", needs=(fixture_tool("test_simple_text"),)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    # Without `arguments`: they are optional, and this tool takes none.
    await peer.request("tools/call", {"name": "test_simple_text"})
