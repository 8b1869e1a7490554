"""It keeps its newest id alone, and comes back under that."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it keeps its newest id alone, and comes back under that",
    breaks="AU-47",
    scenario="auth.authorization-server-returns",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.wallet.identities.values()]
    return altered(request, TOKEN, client_id=identities[-1].id) if identities else request
