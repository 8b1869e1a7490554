"""A prompt that is in order; then one without its arguments, one with odd ones, one that does not exist."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.argument import prompt_arguments
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_PROMPT
from assay.lab.harness.scenario import scenario


@scenario(
    "Prompts asked for in the wrong way",
    exercises=("prompts.unknown-name", "prompts.arguments"),
    needs=(A_PROMPT,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
    demanding = [prompt for prompt in stage.facts.prompts if prompt_arguments(prompt)]
    prompt = (demanding or stage.facts.prompts)[0]
    good: dict[str, Any] = prompt_arguments(prompt)
    await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": good})
    for name in list(good)[:1]:
        without = {key: value for key, value in good.items() if key != name}
        for arguments in (without, {**good, name: {"of": "the lab"}}):
            await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": arguments})
    await peer.request("prompts/get", {"name": "no-such-prompt-of-the-lab"})
