"""Both documents are where only the last rule finds them."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import ANY, Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/metadata-var3",
    "Metadata at an address of its own, and OpenID Connect's document below the issuer",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(
            at="/custom/metadata/location.json", tenant="/tenant1", faults=("metadata-only-appended", ANY)
        ),
    )
