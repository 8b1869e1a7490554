"""It shows the token of one authorization server to another."""

from __future__ import annotations

from assay.lab.client.authorization.altering import REGISTER, goes_to
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it shows the token of one authorization server to another",
    breaks="sep-2352-no-cross-as-credential-reuse",
    scenario="auth/authorization-server-migration",
)
def change(request: Request, guest: Guest) -> Request | None:
    token = guest.wallet.token
    if goes_to(request, REGISTER) and token:
        request.set("Authorization", f"Bearer {token}")
    return request
