"""Two connections read the list of prompts by turns, while one of them asks for other things too."""

from __future__ import annotations

from assay.lab.harness.driver.argument import prompt_arguments
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.scenario import scenario


@scenario(
    "The list of prompts, read on two connections",
    exercises=("prompts.available", "prompts.same-for-all"),
    needs=(declares("prompts"),),
)
async def drive(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    for peer in (one, other):
        await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts[:1]:
        await one.request("prompts/get", {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)})
    for peer in (one, other, one, other):
        await peer.pages("prompts/list", "prompts")
