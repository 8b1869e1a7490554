"""The resource is named with a fragment."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the resource is named with a fragment",
    breaks="resource-parameter-valid-uri",
    scenario="auth/token-endpoint-auth-none",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{guest.invitation.url}#part")
