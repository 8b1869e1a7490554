"""Clients authenticate in the form."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL, RESOURCES
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/token-endpoint-auth-post",
    "The token endpoint takes client_secret_post",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=RESOURCES,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(settings={"methods": ("client_secret_post",)}))
