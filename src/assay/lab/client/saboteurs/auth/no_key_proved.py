"""It asks for a token without proving a key."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for a token without proving a key",
    breaks="sep-1932-client-token-request-proof",
    scenario="auth/dpop",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, TOKEN):
        request.set("DPoP", None)
    return request
