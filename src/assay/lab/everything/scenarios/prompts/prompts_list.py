"""The list of prompts."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_PROMPT, declares


@official_scenario(
    "prompts-list",
    "The list of prompts",
    needs=(
        declares("prompts"),
        A_PROMPT,
    ),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
