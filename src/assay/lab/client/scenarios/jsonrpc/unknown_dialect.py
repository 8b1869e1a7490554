"""A tool whose schemas are in a dialect that nobody knows."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.unknown_dialect import FOREIGN
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

SCHEMA = {"$schema": "https://example.com/dialects/unheard-of", "type": "object"}


@client_scenario(
    "A schema in an unknown dialect is no reason to break down",
    brief=Brief(steps=(LIST_TOOLS, tried(call(FOREIGN)), call(AFTER))),
    exercises=("jsonrpc.unknown-dialect",),
)
async def drive(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"city": "Bern"}}

    stage.host.add_tool({"name": FOREIGN, "inputSchema": SCHEMA, "outputSchema": SCHEMA}, answer)
    stage.host.add_tool({"name": AFTER})
