"""A header that nobody asked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "an argument that is not marked is repeated, too", breaks="sep-2243-client-mirrors-designated-params"
)
def change(request: Request, client: ScriptedClient) -> Request:
    if request.header("mcp-param-region") is not None:
        request.set("Mcp-Param-Query", "SELECT")
    return request
