"""The address to open in a browser has something in it that a shell would work out. Not every client manages
an endpoint that has a query already, and here it need not."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import IN_VAIN, RESOURCES
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.authorization.shell import NAME, SUM
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "Something for a shell in the address",
    brief=IN_VAIN,
    exercises=("auth.shell",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive(stage: ClientStage) -> None:
    address = f"{{issuer}}/authorize?{NAME}={SUM}"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": address}}))
