"""It asks for no scope at all."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it asks for no scope at all", breaks="AU-17", scenario="auth/scope-from-www-authenticate")
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope=None)
