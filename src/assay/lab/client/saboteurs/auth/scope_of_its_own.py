"""It asks for a scope that nobody named."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it asks for a scope that nobody named",
    breaks="scope-omitted-when-undefined",
    scenario="auth/scope-omitted-when-undefined",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="everything")
