"""A client that knows one address."""

from __future__ import annotations

from assay.lab.client.checks.streams.old_server import MESSAGES
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("messages do not go to the address that was told", breaks="SSE-03")
def change(request: Request, client: ScriptedClient) -> Request:
    if request.target.endswith(MESSAGES):
        request.target = request.target.removesuffix(MESSAGES) + "/mcp"
    return request
