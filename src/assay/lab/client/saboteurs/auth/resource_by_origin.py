"""The resource is named by its origin alone."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, ENDPOINT, TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the resource is named by its origin alone",
    breaks="resource-parameter-matches-prm",
    scenario="auth/token-endpoint-auth-none",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    origin = client.invitation.url.removesuffix(ENDPOINT)
    return altered(altered(request, AUTHORIZE, resource=origin), TOKEN, resource=origin)
