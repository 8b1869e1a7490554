"""A list that may be kept for long, under a token; then a call that needs another."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import CODE
from assay.lab.client.authorization.protected import TOOL, Protection, protect
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "What was kept under one token is not used under another",
    brief=Brief(steps=(LIST_TOOLS, call(TOOL), LIST_TOOLS, call(AFTER)), oauth=CODE),
    exercises=("caching.another-token",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(scope="mcp:basic", scopes=("mcp:basic", "mcp:write"), needs={"tools/call": "mcp:write"}),
    )
    stage.host.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    stage.host.add_tool({"name": AFTER})
