"""The metadata is where it should be, and names another issuer; its endpoints are in a place of their own."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import IN_VAIN
from assay.lab.client.authorization.protected import OAUTH, Protection, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/metadata-issuer-mismatch",
    "Metadata of another issuer",
    brief=IN_VAIN,
    exercises=("auth.issuer-of-metadata",),
    window=where("AU-26"),
)
async def drive(stage: ClientStage) -> None:
    settings = {"endpoints": "/mismatched-as"}
    await protect(stage, Protection(settings=settings, faults=("issuer-mismatch", *OAUTH)))
