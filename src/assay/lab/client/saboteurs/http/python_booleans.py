"""Booleans as Python writes them."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("a boolean is `True` in its header", breaks="XH-10")
def change(request: Request, client: ScriptedClient) -> Request:
    if given := request.header("Mcp-Param-Dry"):
        request.set("Mcp-Param-Dry", given.title())
    return request
