"""Nothing, written out."""

from __future__ import annotations

from assay.lab.client.fixtures.marked_tools import FEW
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("an argument that is null has a header", breaks="sep-2243-client-omit-null")
def change(request: Request, client: ScriptedClient) -> Request:
    if request.header("mcp-name") == FEW:
        request.set("Mcp-Param-Verbose", "null")
    return request
