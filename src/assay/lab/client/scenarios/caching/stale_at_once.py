"""A list that is stale at once, wanted again after a while."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.stale import BRIEF, keep_for
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A list that is stale at once is fetched again", brief=BRIEF, exercises=("caching.freshness",)
)
async def drive(stage: ClientStage) -> None:
    keep_for(stage, 0)
