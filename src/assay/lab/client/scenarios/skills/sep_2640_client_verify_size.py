"""A skill whose text is longer than its entry says."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.skill import MANIFEST, TEXTS, offer_skill
from assay.lab.harness.scripted_server.brief import Brief, step, tried
from assay.lab.harness.scripted_server.stage import ClientStage

LONGER = TEXTS[MANIFEST] + "and words that the entry does not count\n"


@official_scenario(
    "sep-2640-client-verify-size",
    "A skill whose size differs is not used",
    brief=Brief(steps=(step("list_skills"), tried(step("load_skill", uri=MANIFEST))), path="", may_fail=True),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    offer_skill(stage, read=LONGER)
