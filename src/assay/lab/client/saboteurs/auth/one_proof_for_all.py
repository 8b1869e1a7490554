"""It sends the same proof with every request."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it sends the same proof with every request", breaks="sep-1932-client-fresh-proof", scenario="auth/dpop"
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT) and (proof := request.header("dpop")) is not None:
        request.set("DPoP", client.memory.setdefault("proof", proof))
    return request
