"""The resource is named with a fragment."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the resource is named with a fragment",
    breaks="resource-parameter-valid-uri",
    scenario="auth/token-endpoint-auth-none",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{client.invitation.url}#part")
