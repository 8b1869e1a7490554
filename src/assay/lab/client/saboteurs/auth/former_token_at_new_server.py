"""It shows the token of one authorization server to another."""

from __future__ import annotations

from assay.lab.client.authorization.altering import REGISTER, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it shows the token of one authorization server to another",
    breaks="sep-2352-no-cross-as-credential-reuse",
    scenario="auth/authorization-server-migration",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    token = client.wallet.token
    if goes_to(request, REGISTER) and token:
        request.set("Authorization", f"Bearer {token}")
    return request
