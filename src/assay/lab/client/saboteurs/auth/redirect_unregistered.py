"""It wants the answer at an address that it did not register."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it wants the answer at an address that it did not register",
    breaks="AU-86",
    scenario="auth/metadata-default",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, redirect_uri="http://127.0.0.1:3000/elsewhere")
