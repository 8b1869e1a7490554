"""The answer is of another issuer, and the metadata announces no `iss`."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import IN_VAIN
from assay.lab.client.authorization.protected import OAUTH, Protection, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/iss-unexpected",
    "Another issuer answers, unannounced",
    brief=IN_VAIN,
    exercises=("auth.issuer-of-answer",),
    window=where("AU-52"),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-iss", "wrong-iss", *OAUTH)))
