"""The authorization server does not have the scope of refresh tokens."""

from __future__ import annotations

from typing import Final

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage

SCOPES: Final = ("mcp:basic", "mcp:read")


@official_scenario(
    "auth/offline-access-not-supported",
    "The authorization server has no refresh tokens",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=where("sep-2207-offline-access-not-requested"),
)
async def drive(stage: ClientStage) -> None:
    settings = {"metadata": {"scopes_supported": [*SCOPES]}}
    await protect(stage, Protection(settings=settings, scopes=SCOPES))
