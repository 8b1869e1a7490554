"""Its assertion is issued by another."""

from __future__ import annotations

from assay.lab.client.authorization.altering import resigned
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "its assertion is issued by another",
    breaks="client-credentials-jwt-iss",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, guest: Guest) -> Request | None:
    return resigned(request, guest, iss="somebody-else")
