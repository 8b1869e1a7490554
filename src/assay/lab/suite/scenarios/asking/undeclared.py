"""Clients that cannot be asked, or not in every way, try what might lead to questions."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_PROMPT, A_READ_ONLY_TOOL, either
from assay.lab.harness.scenario import scenario
from assay.lab.suite.interview import FORMS_AND_TEXT, harmless


@scenario(
    "Clients that cannot be asked",
    exercises=("asking.declared-only",),
    needs=(either(A_READ_ONLY_TOOL, A_PROMPT),),
)
async def drive(stage: Stage) -> None:
    for capabilities in ({}, FORMS_AND_TEXT):
        peer = await stage.open(**capabilities)
        for ask in harmless(peer, stage.facts):
            await ask()
