"""It does not take the answer of the right issuer."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it does not take the answer of the right issuer",
    breaks="sep-2468-client-compare-iss-supported",
    scenario="auth/iss-supported",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, TOKEN) else request
