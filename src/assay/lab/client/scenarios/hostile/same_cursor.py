"""A list that leads to its own page again and again."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.endless import IN_VAIN, MOST_SAME, SAME, add_endless
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A cursor that comes again and again leads nowhere",
    brief=IN_VAIN,
    exercises=("hostile.endless-lists",),
)
async def drive(stage: ClientStage) -> None:
    add_endless(stage.host, lambda number: SAME, MOST_SAME)
