"""It shows one authorization server the id that another gave it."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it shows one authorization server the id that another gave it",
    breaks="AU-48",
    scenario="auth/authorization-server-migration",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.wallet.identities.values()]
    if len(identities) > 1:
        request = altered(request, TOKEN, client_id=identities[0].id)
    return request
