"""An argument that is not ASCII."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


@client_scenario(
    "Other characters than ASCII are sent as UTF-8",
    brief=Brief(steps=(LIST_TOOLS, call("write", text="Zürich, Łódź, 東京 \N{PARTY POPPER}"))),
    exercises=("jsonrpc.utf8",),
)
async def drive(stage: ClientStage) -> None:
    stage.host.add_tool({"name": "write", "inputSchema": TEXT})
