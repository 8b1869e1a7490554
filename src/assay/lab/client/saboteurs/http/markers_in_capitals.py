"""Markers that nobody knows."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("the markers of encoded values are in capitals", breaks="XH-13", scenario="http.param-headers")
def change(request: Request, client: ScriptedClient) -> Request:
    for name, value in list(request.headers):
        if name.startswith("Mcp-Param-"):
            request.set(name, value.replace("=?base64?", "=?BASE64?"))
    return request
