"""It asks for metadata without naming a version."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import OF_OLD
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for metadata without naming a version",
    breaks="AU-31",
    scenario=f"{OF_OLD}oauth-metadata-backcompat",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if "/.well-known/" in request.target:
        request.set("MCP-Protocol-Version", None)
    return request
