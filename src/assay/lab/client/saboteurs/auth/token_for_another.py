"""The token request names another resource."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the token request names another resource",
    breaks="resource-parameter-consistency",
    scenario="auth/token-endpoint-auth-none",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, resource=f"{client.invitation.url}/other")
