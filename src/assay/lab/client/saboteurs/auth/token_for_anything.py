"""The token request names no resource."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the token request names no resource",
    breaks="resource-parameter-in-token",
    scenario="auth/token-endpoint-auth-none",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, TOKEN, resource=None)
