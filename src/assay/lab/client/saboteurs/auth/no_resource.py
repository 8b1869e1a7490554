"""It never says what the token is for."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it never says what the token is for", breaks="AU-56", scenario="auth/metadata-default")
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(altered(request, AUTHORIZE, resource=None), TOKEN, resource=None)
