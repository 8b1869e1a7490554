"""Its assertion is for the token endpoint."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, resigned
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "its assertion is for the token endpoint",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    host = request.header("host")
    return resigned(request, client, aud=f"http://{host}{TOKEN}")
