"""The metadata of the resource is about another resource."""

from __future__ import annotations

from typing import Final

from assay.lab.client.authorization.authorizing import IN_VAIN
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage

OTHER: Final = "https://evil.example.com/mcp"


@official_scenario(
    "auth/resource-mismatch",
    "Metadata of another resource",
    brief=IN_VAIN,
    window=where("resource-mismatch-rejected"),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(resource=OTHER))
