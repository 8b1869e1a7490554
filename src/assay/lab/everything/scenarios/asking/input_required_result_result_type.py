"""A result that wants input."""

from __future__ import annotations

from assay.lab.everything.answering import able, call
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import asking_tool
from assay.lab.harness.driver.stage import Stage

TOOL = asking_tool("elicitation")


@official_scenario(
    "input-required-result-result-type", "A result that wants input says so", needs=(fixture_tool(TOOL),)
)
async def drive(stage: Stage) -> None:
    peer = await able(stage)
    await call(peer, TOOL)
