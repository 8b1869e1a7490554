"""The workload asks as a client that acts for itself."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the workload asks as a client that acts for itself",
    breaks="wif-grant-type",
    scenario="auth/wif-jwt-bearer",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, grant_type="client_credentials")
