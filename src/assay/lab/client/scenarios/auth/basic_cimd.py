"""The server takes addresses of documents about clients for client ids."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import DESCRIBED, Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/basic-cimd",
    "A client id that is the address of a document",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=DESCRIBED))
