"""The metadata names the resource with scheme and host in capitals."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import LIST_AND_CALL, RESOURCES
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A resource in capitals",
    brief=LIST_AND_CALL,
    exercises=("auth.capitals",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive(stage: ClientStage) -> None:
    path = stage.url.removeprefix(stage.origin)
    await protect(stage, Protection(resource=f"{stage.origin.upper()}{path}"))
