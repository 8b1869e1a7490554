"""An answer to somebody else's question: its `state` is another one."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import IN_VAIN, RESOURCES
from assay.lab.client.authorization.protected import OAUTH, Protection, protect
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "Another `state` comes back",
    brief=IN_VAIN,
    exercises=("auth.state",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("wrong-state", *OAUTH)))
