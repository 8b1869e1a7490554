"""Neither the metadata nor the answer speaks of `iss`."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import OAUTH, Protection, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/iss-not-advertised",
    "Nobody says who answers",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=where("AU-52"),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-iss", "missing-iss", *OAUTH)))
