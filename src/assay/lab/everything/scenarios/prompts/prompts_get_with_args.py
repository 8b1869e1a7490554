"""A prompt that is filled in twice."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_prompt
from assay.lab.harness.driver.stage import Stage

PROMPT = "test_prompt_with_arguments"
VALUES = (("testValue1", "testValue2"), ("assay 4711", "assay 4712"))
"""The official ones, and some that no server can have prepared an answer for."""


@official_scenario("prompts-get-with-args", "A prompt with arguments", needs=(fixture_prompt(PROMPT),))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for first, second in VALUES:
        arguments = {"arg1": first, "arg2": second}
        await peer.request("prompts/get", {"name": PROMPT, "arguments": arguments})
