"""It names the resource only to servers that are known to mind."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it names the resource only to servers that are known to mind",
    breaks="AU-58",
    scenario="auth/metadata-default",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, resource=None)
