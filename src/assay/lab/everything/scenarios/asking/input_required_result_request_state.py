"""A tool gives its client something to keep, and gets it back."""

from __future__ import annotations

from assay.lab.everything.answering import able, call_through
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import asking_tool
from assay.lab.harness.driver.stage import Stage

TOOL = asking_tool("request_state")


@official_scenario(
    "input-required-result-request-state",
    "A tool gives its client something to keep, and gets it back",
    needs=(fixture_tool(TOOL),),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage, {"ok": True})
    await call_through(peer, TOOL)
