"""A workload is told to ask for a scope that it is then refused."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import FOUND
from assay.lab.client.authorization.workload import OAUTH, UNAUTHORIZED, protect_from_workload
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, tried
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A workload that is refused",
    brief=Brief(steps=(tried(LIST_TOOLS),), oauth=OAUTH, may_fail=True),
    exercises=("auth/wif-jwt-bearer",),
    transports=HTTP_ONLY,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect_from_workload(stage, UNAUTHORIZED)
