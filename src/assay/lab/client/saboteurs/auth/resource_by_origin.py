"""The resource is named by its origin alone."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, ENDPOINT, TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the resource is named by its origin alone",
    breaks="resource-parameter-matches-prm",
    scenario="auth/token-endpoint-auth-none",
)
def change(request: Request, guest: Guest) -> Request | None:
    origin = guest.invitation.url.removesuffix(ENDPOINT)
    return altered(altered(request, AUTHORIZE, resource=origin), TOKEN, resource=origin)
