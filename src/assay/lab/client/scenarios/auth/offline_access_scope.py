"""The authorization server has the scope of refresh tokens; the resource does not speak of it."""

from __future__ import annotations

from typing import Final

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import DESCRIBED, Protection, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage

SETTINGS: Final = {**DESCRIBED, "metadata": {"scopes_supported": ["mcp:basic", "offline_access"]}}


@official_scenario(
    "auth/offline-access-scope",
    "The authorization server has refresh tokens",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=where("sep-2207-offline-access-requested"),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=SETTINGS, scopes=("mcp:basic",)))
