"""The authorization server is on the endpoint's own origin, and has no metadata."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL, OF_OLD, OLD
from assay.lab.client.authorization.protected import ANY, Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    f"{OF_OLD}oauth-endpoint-fallback",
    "No metadata at all",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=OLD,
)
async def drive(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(together=True, faults=("metadata-404-oauth", "metadata-404-oidc", "missing-iss", ANY)),
    )
