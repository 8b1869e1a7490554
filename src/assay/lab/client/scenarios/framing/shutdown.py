"""A server that ends when its input does."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY


@client_scenario(
    "A server is ended by closing its input",
    brief=Brief(steps=(LIST_TOOLS, call("work"))),
    exercises=("framing.shutdown",),
    transports=STDIO_ONLY,
)
async def drive(stage: ClientStage) -> None:
    stage.host.add_tool({"name": "work"})
