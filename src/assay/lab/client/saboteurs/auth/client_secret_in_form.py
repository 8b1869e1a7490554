"""It sends its secret in the form."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it sends its secret in the form",
    breaks="client-credentials-basic-auth",
    scenario="auth/client-credentials-basic",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, TOKEN):
        request.set("Authorization", None)
    given = {name: client.context[name] for name in ("client_id", "client_secret")}
    return altered(request, TOKEN, **given)
