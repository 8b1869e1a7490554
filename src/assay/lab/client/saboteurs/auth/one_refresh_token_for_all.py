"""It tries the refresh token of one authorization server at another."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered, parameters
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it tries the refresh token of one authorization server at another",
    breaks="AU-27",
    scenario="auth.authorization-server-returns",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    kept = [*client.wallet.refreshes.values()]
    if kept and parameters(request).get("grant_type") == "authorization_code":
        return altered(request, TOKEN, grant_type="refresh_token", refresh_token=kept[0])
    return request
