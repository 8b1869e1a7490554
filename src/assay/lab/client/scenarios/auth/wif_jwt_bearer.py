"""There is no user: the client is a workload, and whoever runs it vouches for it."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import FOUND, TWO
from assay.lab.client.authorization.workload import OAUTH, protect_from_workload
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.brief import Brief
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/wif-jwt-bearer",
    "A workload with a token of its own",
    brief=Brief(steps=TWO, oauth=OAUTH),
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect_from_workload(stage)
