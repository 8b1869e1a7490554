"""Schemas of a tool refer to another address: whoever goes there is seen."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.references import ROOM
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "Schemas that refer to the network are not fetched",
    brief=Brief(steps=(LIST_TOOLS, tried(call("referring", city="Bern")), call(AFTER))),
    exercises=("jsonrpc.references",),
)
async def drive(stage: ClientStage) -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(200, b'{"type": "string"}', [("Content-Type", "application/schema+json")])

    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"city": "Bern"}}

    origin = await stage.room(ROOM, serve)
    properties = {"city": {"$ref": f"{origin}/city.json"}}
    schema = {"type": "object", "properties": properties}
    stage.host.add_tool({"name": "referring", "inputSchema": schema, "outputSchema": schema}, answer)
    stage.host.add_tool({"name": AFTER})
