"""It registers without the grant type of refresh tokens."""

from __future__ import annotations

from assay.lab.client.authorization.altering import REGISTER, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it registers without the grant type of refresh tokens",
    breaks="sep-2207-client-metadata-grant-types",
    scenario="auth/offline-access-scope",
    manners={"uses_document": False},
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, REGISTER, grant_types=["authorization_code"])
