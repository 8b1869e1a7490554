"""A rich schema, and a tool to which the client gives it back."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.rich_schema import ECHO, RICH, SCHEMA
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, step
from assay.lab.harness.scripted_server.stage import ClientStage

ECHOED = {"type": "object", "properties": {"schema": {"type": "object"}}, "required": ["schema"]}


@official_scenario(
    "json-schema-2020-12-preservation",
    "A schema comes out of the client as it went in",
    brief=Brief(steps=(LIST_TOOLS, step("echo_schema", **{"of": RICH, "with": ECHO}))),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    stage.host.add_tool({"name": RICH, "description": "Has a rich schema", "inputSchema": SCHEMA})
    stage.host.add_tool({"name": ECHO, "description": "Takes a schema back", "inputSchema": ECHOED})
