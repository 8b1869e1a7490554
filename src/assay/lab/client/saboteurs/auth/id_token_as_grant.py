"""It sends the ID token in place of the grant."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered, parameters
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it sends the ID token in place of the grant",
    breaks="complete-flow-jwt-bearer",
    scenario="auth/enterprise-managed-authorization",
)
def change(request: Request, guest: Guest) -> Request | None:
    if "assertion" in parameters(request):
        return altered(request, TOKEN, assertion=guest.context["idp_id_token"])
    return request
