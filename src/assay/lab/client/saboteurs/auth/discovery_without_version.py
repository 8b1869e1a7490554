"""It asks for metadata without naming a version."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import OF_OLD
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it asks for metadata without naming a version",
    breaks="AU-31",
    scenario=f"{OF_OLD}oauth-metadata-backcompat",
)
def change(request: Request, guest: Guest) -> Request | None:
    if "/.well-known/" in request.target:
        request.set("MCP-Protocol-Version", None)
    return request
