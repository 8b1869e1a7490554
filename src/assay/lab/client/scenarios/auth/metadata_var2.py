"""The metadata of the resource is at the root; the issuer has a path."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import ROOT, Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/metadata-var2",
    "Metadata at the root, and an issuer with a path",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(named=False, at=ROOT, tenant="/tenant1"))
