"""It asks for a token with a grant type that is not for clients alone."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for a token with a grant type that is not for clients alone",
    breaks="client-credentials-grant-type",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, grant_type="password")
