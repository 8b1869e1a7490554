"""It shows a bound token without a proof."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it shows a bound token without a proof", breaks="sep-1932-client-fresh-proof", scenario="auth/dpop"
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("DPoP", None)
    return request
