"""It does not ask again with the nonce of the resource."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.client.authorization.machine import read_jwt
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it does not ask again with the nonce of the resource",
    breaks="sep-1932-client-rs-nonce",
    scenario="auth/dpop-nonce",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    nonce = read_jwt(request.header("dpop")).claims.get("nonce")
    return None if goes_to(request, ENDPOINT) and nonce is not None else request
