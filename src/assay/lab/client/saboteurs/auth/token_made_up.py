"""It shows a token that nobody gave it."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it shows a token that nobody gave it", breaks="invalid-bearer-token", scenario="auth/metadata-default"
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("Authorization", "Bearer made-up-by-the-client")
    return request
