"""A method in capitals."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("Mcp-Method is in capitals", breaks="sep-2243-client-includes-standard-headers")
def change(request: Request, client: ScriptedClient) -> Request:
    if (method := request.header("mcp-method")) is not None:
        request.set("Mcp-Method", method.upper())
    return request
