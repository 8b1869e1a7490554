"""It registers as an application of no known type."""

from __future__ import annotations

from assay.lab.client.authorization.altering import REGISTER, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it registers as an application of no known type", breaks="AU-45", scenario="auth/metadata-default"
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, REGISTER, application_type="desktop")
