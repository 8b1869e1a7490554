"""Marks that nobody heeds."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("no argument is repeated in headers", breaks="sep-2243-client-supports-custom-headers")
def change(request: Request, client: ScriptedClient) -> Request:
    request.headers = [pair for pair in request.headers if not pair[0].startswith("Mcp-Param-")]
    return request
