"""It shows a bound token as if anybody might."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it shows a bound token as if anybody might",
    breaks="sep-1932-client-dpop-auth-scheme",
    scenario="auth/dpop",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    shown = request.header("authorization") or ""
    if goes_to(request, ENDPOINT) and shown:
        request.set("Authorization", shown.replace("DPoP", "Bearer", 1))
    return request
