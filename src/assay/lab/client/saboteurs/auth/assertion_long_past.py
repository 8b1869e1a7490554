"""Its assertion has expired."""

from __future__ import annotations

from assay.lab.client.authorization.altering import resigned
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request

MINUTE = 60


@on_request(
    "its assertion has expired",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, guest: Guest) -> Request | None:
    return resigned(request, guest, iat=0, exp=MINUTE)
