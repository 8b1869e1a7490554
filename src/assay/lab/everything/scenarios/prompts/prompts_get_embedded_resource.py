"""A prompt with a resource in it."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_prompt
from assay.lab.harness.driver.stage import Stage

PROMPT = "test_prompt_with_embedded_resource"


@official_scenario(
    "prompts-get-embedded-resource", "A prompt with an embedded resource", needs=(fixture_prompt(PROMPT),)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    arguments = {"resourceUri": "test://example-resource"}
    await peer.request("prompts/get", {"name": PROMPT, "arguments": arguments})
