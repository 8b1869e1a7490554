"""A skill whose text was changed into one of the same length."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.skill import MANIFEST, TEXTS, offer_skill
from assay.lab.harness.scripted_server.brief import Brief, step, tried
from assay.lab.harness.scripted_server.stage import ClientStage

CHANGED = TEXTS[MANIFEST].replace("How it is done.", "Do as you like.")


@official_scenario(
    "sep-2640-client-verify-digest",
    "A skill whose digest differs is not used",
    brief=Brief(steps=(step("list_skills"), tried(step("load_skill", uri=MANIFEST))), path="", may_fail=True),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    offer_skill(stage, read=CHANGED)
