"""An address that is not as it was."""

from __future__ import annotations

from urllib.parse import unquote

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("Mcp-Name has percent signs decoded", breaks="sep-2243-client-includes-standard-headers")
def change(request: Request, client: ScriptedClient) -> Request:
    if (name := request.header("mcp-name")) is not None:
        request.set("Mcp-Name", unquote(name))
    return request
