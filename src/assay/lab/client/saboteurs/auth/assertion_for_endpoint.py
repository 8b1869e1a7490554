"""Its assertion is for the token endpoint."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, resigned
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "its assertion is for the token endpoint",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, guest: Guest) -> Request | None:
    host = request.header("host")
    return resigned(request, guest, aud=f"http://{host}{TOKEN}")
