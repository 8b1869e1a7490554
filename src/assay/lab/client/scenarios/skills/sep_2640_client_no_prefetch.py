"""Skills are listed, and none is loaded."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.skill import offer_skill
from assay.lab.harness.scripted_server.brief import Brief, step
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "sep-2640-client-no-prefetch",
    "Skills are listed without a look at their files",
    brief=Brief(steps=(step("list_skills"),), path=""),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    offer_skill(stage)
