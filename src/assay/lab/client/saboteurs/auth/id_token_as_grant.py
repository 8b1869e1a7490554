"""It sends the ID token in place of the grant."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered, parameters
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it sends the ID token in place of the grant",
    breaks="complete-flow-jwt-bearer",
    scenario="auth/enterprise-managed-authorization",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if "assertion" in parameters(request):
        return altered(request, TOKEN, assertion=client.context["idp_id_token"])
    return request
