"""It asks for the same scope again when that was not enough."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for the same scope again when that was not enough",
    breaks="scope-step-up-escalation",
    scenario="auth/scope-step-up",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic")
