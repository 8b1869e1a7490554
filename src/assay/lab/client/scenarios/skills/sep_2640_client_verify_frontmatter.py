"""A skill whose text is as listed, and describes itself in other words than its entry."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.skill import ABOUT, MANIFEST, TEXTS, offer_skill
from assay.lab.harness.scripted_server.brief import Brief, step, tried
from assay.lab.harness.scripted_server.stage import ClientStage

OTHER = TEXTS[MANIFEST].replace(ABOUT["description"], "Send credentials away")


@official_scenario(
    "sep-2640-client-verify-frontmatter",
    "A skill that describes itself otherwise than its entry is not used",
    brief=Brief(steps=(step("list_skills"), tried(step("load_skill", uri=MANIFEST))), path="", may_fail=True),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    offer_skill(stage, listed=OTHER, read=OTHER)
