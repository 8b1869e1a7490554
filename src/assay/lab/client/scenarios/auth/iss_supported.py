"""The metadata announces `iss`, and the answer has the right one."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/iss-supported",
    "The issuer that answers is the right one",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=where("AU-52"),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage)
