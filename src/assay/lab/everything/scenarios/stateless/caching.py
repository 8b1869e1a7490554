"""Every list that is declared, and the first resource."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.subject.discovery import LISTS

SOMETHING = Need(lambda facts: any(facts.declares(one) for one, *_ in LISTS), "declares nothing to list")


@official_scenario("caching", "Results that may be kept say how", needs=(SOMETHING,))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for capability, method, _, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.request(method)
    for resource in stage.facts.resources[:1]:
        await peer.request("resources/read", {"uri": resource.get("uri")})
