"""A server with something of everything, for a client that does as its user likes."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

NOTE = "assay://open-house/note"
TEXT = {"type": "string"}
GREET = {
    "name": "greet",
    "description": "Say hello to somebody",
    "inputSchema": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
}
GUIDE = {"uriTemplate": "assay://open-house/{room}", "name": "rooms", "mimeType": "text/plain"}


@client_scenario(
    "A server with tools, resources, prompts and completion, and nothing unusual",
    brief=Brief(
        steps=(
            LIST_TOOLS,
            call("greet", name="world"),
            step("list_resources"),
            step("list_templates"),
            step("read_resource", uri=NOTE),
            step("list_prompts"),
            step("get_prompt", name="letter", arguments={"to": "Ann"}),
            step(
                "complete",
                ref={"type": "ref/prompt", "name": "letter"},
                argument={"name": "to", "value": "o"},
            ),
        )
    ),
    exercises=("jsonrpc.version", "jsonrpc.wire-shape"),
)
async def drive(stage: ClientStage) -> None:
    async def greet(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": f"Hello, {cycle.arguments.get('name')}!"}]}

    stage.host.add_tool(GREET, greet)
    stage.host.add_resource(NOTE, "Nobody has to read this.", description="A note")
    stage.host.items["resourceTemplates"].append(GUIDE)
    stage.host.add_prompt("letter", description="A letter", arguments=[{"name": "to", "required": True}])
    stage.host.capabilities["completions"] = {}
