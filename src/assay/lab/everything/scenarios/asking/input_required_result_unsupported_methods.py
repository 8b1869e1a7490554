"""Requests that may not lead to questions, from a client that can be asked."""

from __future__ import annotations

from assay.lab.everything.answering import able
from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.subject.discovery import LISTS

SOMETHING = Need(lambda facts: any(facts.declares(one) for one, *_ in LISTS), "declares nothing to list")


@official_scenario(
    "input-required-result-unsupported-methods",
    "Requests that may not lead to questions",
    needs=(SOMETHING,),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage)
    for capability, method, _, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.request(method)
