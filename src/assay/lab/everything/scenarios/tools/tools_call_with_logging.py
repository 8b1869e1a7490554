"""A tool that logs while it works."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares

TOOL = "test_tool_with_logging"
MESSAGES = 3


@official_scenario(
    "tools-call-with-logging",
    "A tool logs while it works",
    needs=(declares("logging"), fixture_tool(TOOL)),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await open_ears(stage, peer)
    await peer.request("logging/setLevel", {"level": "debug"})
    reply = await peer.call(tool_of(stage.facts, TOOL), {})
    for _ in range(MESSAGES if reply.is_result else 0):
        if await peer.hear("notifications/message") is None:
            break
