"""It gets a token and never shows it."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it gets a token and never shows it", breaks="valid-bearer-token", scenario="auth/metadata-default"
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("Authorization", None)
    return request
