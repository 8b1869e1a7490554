"""An answer to another question than the one that was asked."""

from __future__ import annotations

from assay.lab.everything.answering import ALICE, able, call, call_again, wants_input
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import asking_tool
from assay.lab.harness.driver.stage import Stage

TOOL = asking_tool("elicitation")


@official_scenario(
    "input-required-result-missing-input-response",
    "An answer to another question than the one that was asked",
    needs=(fixture_tool(TOOL),),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage)
    asked = await call(peer, TOOL)
    if wants_input(asked):
        await call_again(peer, TOOL, asked, inputResponses={"wrong_key": ALICE})
