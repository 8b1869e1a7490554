"""No header for what is empty."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("an empty argument has no header", breaks="sep-2243-client-mirrors-designated-params")
def change(request: Request, client: ScriptedClient) -> Request:
    request.set("Mcp-Param-EmptyVal", request.header("mcp-param-emptyval") or None)
    return request
