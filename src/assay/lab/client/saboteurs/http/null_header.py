"""A header for nothing."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("an argument that is null has a header", breaks="XH-14")
def change(request: Request, client: ScriptedClient) -> Request:
    if request.header("Mcp-Param-Region") == "eu":
        request.set("Mcp-Param-Note", "null")
    return request
