"""A server that has tools and nothing else."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A server is not asked for what it did not declare",
    brief=Brief(steps=(LIST_TOOLS, call("work"))),
    exercises=("lifecycle.negotiated-only",),
)
async def drive(stage: ClientStage) -> None:
    stage.host.add_tool({"name": "work"})
