"""A client that opens the stream of an old server, and makes nothing of what it says."""

from __future__ import annotations

from assay.lab.client.checks.streams.old_server import MESSAGES
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("the endpoint that an old server names is not used", breaks="SSE-06")
def change(request: Request, client: ScriptedClient) -> Request | None:
    return None if request.target.endswith(MESSAGES) else request
