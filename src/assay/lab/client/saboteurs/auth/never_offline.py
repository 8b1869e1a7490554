"""It registers without the grant type of refresh tokens."""

from __future__ import annotations

from assay.lab.client.authorization.altering import REGISTER, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it registers without the grant type of refresh tokens",
    breaks="sep-2207-client-metadata-grant-types",
    scenario="auth/offline-access-scope",
    behaviour={"uses_document": False},
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, REGISTER, grant_types=["authorization_code"])
