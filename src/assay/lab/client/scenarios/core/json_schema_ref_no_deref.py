"""A tool whose schema points to an address that nobody should visit."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.stage import ClientStage

PATH = "/canary/profile-schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
JSON = [("Content-Type", "application/json")]


@official_scenario(
    "json-schema-ref-no-deref",
    "A reference to the network in a schema is left alone",
    brief=Brief(steps=(LIST_TOOLS,)),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(200, b'{"type":"object"}', JSON)

    canary = await stage.room("canary", serve)
    schema = {
        "$schema": DIALECT,
        "type": "object",
        "$defs": {"userId": {"type": "string", "pattern": "^[a-z0-9-]+$"}},
        "properties": {"id": {"$ref": "#/$defs/userId"}, "profile": {"$ref": f"{canary}{PATH}"}},
        "required": ["id"],
    }
    stage.host.streams = True
    stage.host.add_tool(
        {"name": "lookup_user", "description": "Look up a user profile by id", "inputSchema": schema}
    )
