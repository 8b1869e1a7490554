"""The challenge tells where the metadata of the resource is; the server has OAuth's document."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/metadata-default",
    "Metadata where the challenge says",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/basic-dcr",),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage)
