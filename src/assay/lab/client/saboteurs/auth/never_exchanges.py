"""It never exchanges its code."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it never exchanges its code", breaks="token-request", scenario="auth/metadata-default")
def change(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, TOKEN) else request
