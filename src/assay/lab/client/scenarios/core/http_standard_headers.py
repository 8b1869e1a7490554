"""Things of each kind to list and to use, some with names that a careless client would change."""

from __future__ import annotations

from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step
from assay.lab.harness.scripted_server.stage import ClientStage

TOOLS = ("test_headers", "my-hyphenated-tool")
URIS = ("file:///path/to/file%20name.txt", "https://example.com/resource?id=123")
PROMPT = "test_prompt"


@official_scenario(
    "http-standard-headers",
    "Requests of every kind repeat method and name in their headers",
    brief=Brief(
        steps=(
            LIST_TOOLS,
            *(call(name) for name in TOOLS),
            step("list_resources"),
            *(step("read_resource", uri=uri) for uri in URIS),
            step("list_prompts"),
            step("get_prompt", name=PROMPT, arguments={}),
        ),
        path="",
    ),
)
async def drive(stage: ClientStage) -> None:
    for name in TOOLS:
        stage.host.add_tool({"name": name, "inputSchema": {"type": "object", "properties": {}}})
    for uri in URIS:
        stage.host.add_resource(uri)
    stage.host.add_prompt(PROMPT, description="A simple prompt")
