"""A call needs another scope than the list; the metadata names neither."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/scope-step-up",
    "Another scope is needed for a call",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(scope="mcp:basic", scopes=("mcp:profile",), needs={"tools/call": "mcp:write"}, opens=True),
    )
