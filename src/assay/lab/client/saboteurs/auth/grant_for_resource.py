"""It asks the identity provider for a grant at the resource, not at its authorization server."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered, parameters
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks the identity provider for a grant at the resource, not at its authorization server",
    breaks="complete-flow-token-exchange",
    scenario="auth/enterprise-managed-authorization",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if "audience" in parameters(request):
        return altered(request, TOKEN, audience=client.invitation.url)
    return request
