"""It asks for no authorization where it could have refresh tokens."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for no authorization where it could have refresh tokens",
    breaks="sep-2207-offline-access-requested",
    scenario="auth/offline-access-scope",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, AUTHORIZE) else request
