"""A prompt asks its user, and is answered."""

from __future__ import annotations

from assay.lab.everything.answering import able, wants_input
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_prompt
from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.stage import Stage

PROMPT = "test_input_required_result_prompt"


@official_scenario(
    "input-required-result-non-tool-request",
    "A prompt asks its user, and is answered",
    needs=(fixture_prompt(PROMPT),),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage, {"context": "test context"})
    reply = await peer.request("prompts/get", {"name": PROMPT})
    if wants_input(reply):
        await peer.request("prompts/get", {"name": PROMPT, **retry(peer, reply.result)})
