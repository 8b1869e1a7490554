"""Its assertion has expired."""

from __future__ import annotations

from assay.lab.client.authorization.altering import resigned
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient

MINUTE = 60


@on_request(
    "its assertion has expired",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return resigned(request, client, iat=0, exp=MINUTE)
