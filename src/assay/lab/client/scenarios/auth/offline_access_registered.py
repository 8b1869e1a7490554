"""The authorization server has the scope of refresh tokens, and clients must register there."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import client_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "Refresh tokens for clients that register",
    brief=LIST_AND_CALL,
    exercises=("auth/offline-access-scope", *BY_CODE),
    transports=HTTP_ONLY,
    window=where("sep-2207-client-metadata-grant-types"),
)
async def drive(stage: ClientStage) -> None:
    settings = {"metadata": {"scopes_supported": ["mcp:basic", "offline_access"]}}
    await protect(stage, Protection(settings=settings, scopes=("mcp:basic",)))
