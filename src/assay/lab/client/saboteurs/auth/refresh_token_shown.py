"""It shows its refresh token to the server, too."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it shows its refresh token to the server, too", breaks="AU-76", scenario="auth.refresh-token")
def change(request: Request, client: ScriptedClient) -> Request | None:
    for token in client.wallet.refreshes.values():
        if goes_to(request, ENDPOINT):
            request.set("X-Refresh-Token", token)
    return request
