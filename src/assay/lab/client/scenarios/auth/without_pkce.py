"""An authorization server that does not say that it knows PKCE."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import FOUND, IN_VAIN
from assay.lab.client.authorization.protected import OAUTH, Protection, protect
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A server without PKCE",
    brief=IN_VAIN,
    exercises=("auth.proof-key-offered",),
    transports=HTTP_ONLY,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-pkce", *OAUTH)))
