"""A list that has one more page, always."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.endless import IN_VAIN, MOST, add_endless
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A list without end is given up",
    brief=IN_VAIN,
    exercises=("hostile.endless-lists",),
)
async def drive(stage: ClientStage) -> None:
    add_endless(stage.host, lambda number: f"page-{number + 1}", MOST)
