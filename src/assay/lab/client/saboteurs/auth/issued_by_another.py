"""Its assertion is issued by another."""

from __future__ import annotations

from assay.lab.client.authorization.altering import resigned
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "its assertion is issued by another",
    breaks="client-credentials-jwt-iss",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return resigned(request, client, iss="somebody-else")
