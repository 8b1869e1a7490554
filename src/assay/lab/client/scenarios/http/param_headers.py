"""A tool that wants arguments repeated in headers, called with values of each kind."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.annotation import KEYWORD

TYPES = {"region": "string", "limit": "integer", "dry": "boolean", "note": "string"}
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": kind, KEYWORD: name.title()} for name, kind in TYPES.items()},
}
CALLS = (
    call("query", region="us-west1", limit=42, dry=True, note="naïve, 東京"),
    call("query", region="=?base64?dXM=?=", limit=-7, dry=False, note=" padded "),
    call("query", region="eu", note=None),
)


@client_scenario(
    "Arguments that a tool marks are repeated in headers",
    brief=Brief(steps=(LIST_TOOLS, *CALLS)),
    exercises=("http.param-headers",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    stage.host.add_tool({"name": "query", "inputSchema": SCHEMA})
