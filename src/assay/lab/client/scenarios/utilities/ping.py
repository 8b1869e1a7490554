"""The host pings in the middle of a call."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Opening


@client_scenario(
    "A ping is answered",
    brief=Brief(steps=(LIST_TOOLS, call("pinging"))),
    exercises=("utilities.ping",),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive(stage: ClientStage) -> None:
    async def pinging(cycle: RequestCycle) -> Answer:
        await cycle.ask("ping", {})
        return {"content": []}

    stage.host.add_tool({"name": "pinging"}, pinging)
