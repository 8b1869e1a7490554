"""The answer that was asked for, and two that were not."""

from __future__ import annotations

from assay.lab.everything.answering import ALICE, able, call, call_again, wants_input
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import USER_NAME, asking_tool
from assay.lab.harness.driver.stage import Stage

TOOL = asking_tool("elicitation")
# All are answers in form: one that is not may be refused for that.
FOREIGN = {"action": "accept", "content": {"foo": "bar"}}
MORE = {USER_NAME: ALICE, "unexpected_key_1": ALICE, "unexpected_key_2": FOREIGN}


@official_scenario(
    "input-required-result-ignore-extra-params",
    "The answer that was asked for, and two that were not",
    needs=(fixture_tool(TOOL),),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage)
    asked = await call(peer, TOOL)
    if wants_input(asked):
        await call_again(peer, TOOL, asked, inputResponses=MORE)
