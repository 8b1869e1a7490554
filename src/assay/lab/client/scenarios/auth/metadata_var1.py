"""Nobody tells where the metadata of the resource is; the server has OpenID Connect's document only."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import ANY, Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/metadata-var1",
    "Metadata at the endpoint's well-known address, and OpenID Connect's document",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(named=False, faults=("metadata-404-oauth", ANY)))
