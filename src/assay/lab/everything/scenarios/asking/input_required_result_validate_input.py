"""Answers that fit, that are a number, and that are not there at all."""

from __future__ import annotations

from assay.lab.everything.answering import able, call, call_again, wants_input
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import USER_NAME, asking_tool
from assay.lab.harness.driver.stage import Stage

TOOL = asking_tool("elicitation")


@official_scenario(
    "input-required-result-validate-input",
    "Answers that are none",
    needs=(fixture_tool(TOOL),),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage)
    asked = await call(peer, TOOL)
    if not wants_input(asked):
        return
    await call_again(peer, TOOL, asked)
    for wrong in ({USER_NAME: 12345}, None):
        asked = await call(peer, TOOL)
        await call_again(peer, TOOL, asked, inputResponses=wrong)
