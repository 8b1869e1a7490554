"""An argument of a prompt is completed."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_prompt
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares

PROMPT = "test_prompt_with_arguments"


@official_scenario(
    "completion-complete",
    "An argument of a prompt is completed",
    needs=(declares("completions"), fixture_prompt(PROMPT)),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    ref = {"type": "ref/prompt", "name": PROMPT}
    for typed in ("test", ""):
        params = {"ref": ref, "argument": {"name": "arg1", "value": typed}}
        await peer.request("completion/complete", params)
