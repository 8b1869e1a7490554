"""A request whose head is of another revision."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.revisions.registry import HANDSHAKE


@on_request("the version header names another revision", breaks="sep-2575-http-version-header-matches-meta")
def change(request: Request, client: ScriptedClient) -> Request:
    request.set("MCP-Protocol-Version", HANDSHAKE[-1].date)
    return request
