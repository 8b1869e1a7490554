"""A prompt without arguments."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_prompt
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "prompts-get-simple", "A prompt without arguments", needs=(fixture_prompt("test_simple_prompt"),)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/get", {"name": "test_simple_prompt"})
