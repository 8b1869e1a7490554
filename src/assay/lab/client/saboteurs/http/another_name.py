"""A name that is not the body's."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("`Mcp-Name` is in capitals", breaks="HTTP-55", scenario="tools_call")
def change(request: Request, client: ScriptedClient) -> Request:
    if name := request.header("Mcp-Name"):
        request.set("Mcp-Name", name.upper())
    return request
