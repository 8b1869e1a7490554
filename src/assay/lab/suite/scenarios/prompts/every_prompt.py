"""Every prompt, with a value for each argument that it requires."""

from __future__ import annotations

from assay.lab.harness.driver.argument import prompt_arguments
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_PROMPT
from assay.lab.harness.scenario import scenario


@scenario(
    "Every prompt, with its arguments",
    exercises=("prompts.messages", "prompts.content", "prompts.internal-error"),
    needs=(A_PROMPT,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts:
        await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)})
