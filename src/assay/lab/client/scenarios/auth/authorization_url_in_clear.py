"""The authorization endpoint is at an address without TLS that is not of the loopback, though it leads there:
0.0.0.0."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import IN_VAIN
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import client_scenario, where
from assay.lab.client.fixtures.canary import open_canary
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "An authorization endpoint without TLS",
    brief=IN_VAIN,
    exercises=("auth.authorization-url",),
    transports=HTTP_ONLY,
    window=where("SEC-08"),
)
async def drive(stage: ClientStage) -> None:
    address = f"http://0.0.0.0:{await open_canary(stage)}/authorize"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": address}}))
