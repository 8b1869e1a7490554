"""It asks for a token with a grant type that is not for clients alone."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it asks for a token with a grant type that is not for clients alone",
    breaks="client-credentials-grant-type",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, TOKEN, grant_type="password")
