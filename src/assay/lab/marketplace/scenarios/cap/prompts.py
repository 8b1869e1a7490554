"""Prompts are listed, and got with a placeholder for each argument."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_PROMPT
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.cap_calling import MOST
from assay.lab.marketplace.cap_prompt import placeholders
from assay.lab.marketplace.declaring import BOTH


@scenario("Prompts, by version and digest", exercises=("cap.prompts",), needs=(A_PROMPT,), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    listed = await peer.pages("prompts/list", "prompts")
    for prompt in [one for one in listed if isinstance(one, dict)][:MOST]:
        await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": placeholders(prompt)})
