"""It registers anew, and goes on under its former id."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it registers anew, and goes on under its former id",
    breaks="sep-2352-no-reuse-on-as-change",
    scenario="auth/authorization-server-migration",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.wallet.identities.values()]
    if len(identities) > 1:
        request = altered(request, AUTHORIZE, client_id=identities[0].id)
    return request
