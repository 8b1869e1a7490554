"""A tool that reports its progress."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage

TOOL, TOKEN = "test_tool_with_progress", "progress-test-1"
STEPS = 3


@official_scenario("tools-call-with-progress", "A tool reports its progress", needs=(fixture_tool(TOOL),))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await open_ears(stage, peer)
    params = {"name": TOOL, "arguments": {}, "_meta": {"progressToken": TOKEN}}
    reply = await peer.request("tools/call", params)
    for _ in range(STEPS if reply.is_result else 0):
        if await peer.hear("notifications/progress", progressToken=TOKEN) is None:
            break
