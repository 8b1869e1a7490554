"""It is not who it was told to be."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it is not who it was told to be", breaks="AU-42", scenario="auth/pre-registration")
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, client_id="somebody-else")
