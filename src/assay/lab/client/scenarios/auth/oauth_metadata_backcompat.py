"""The authorization server is on the endpoint's own origin, and says so in its metadata."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL, OF_OLD, OLD
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    f"{OF_OLD}oauth-metadata-backcompat",
    "Metadata of the server on the endpoint's origin",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=OLD,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(together=True, settings={"endpoints": "/oauth"}))
