"""A request without its method in its head."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("requests have no Mcp-Method", breaks="sep-2243-client-includes-standard-headers")
def change(request: Request, client: ScriptedClient) -> Request:
    request.set("Mcp-Method", None)
    return request
