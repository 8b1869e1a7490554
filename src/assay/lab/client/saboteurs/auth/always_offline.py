"""It asks for offline_access wherever it is."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for offline_access wherever it is",
    breaks="sep-2207-offline-access-not-requested",
    scenario="auth/offline-access-not-supported",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic mcp:read offline_access")
