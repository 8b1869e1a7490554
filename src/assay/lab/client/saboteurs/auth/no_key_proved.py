"""It asks for a token without proving a key."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, goes_to
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it asks for a token without proving a key",
    breaks="sep-1932-client-token-request-proof",
    scenario="auth/dpop",
)
def change(request: Request, guest: Guest) -> Request | None:
    if goes_to(request, TOKEN):
        request.set("DPoP", None)
    return request
