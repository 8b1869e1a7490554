"""It shows another secret than it was given."""

from __future__ import annotations

from base64 import b64encode

from assay.lab.client.authorization.altering import TOKEN, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it shows another secret than it was given",
    breaks="pre-registration-auth",
    scenario="auth/pre-registration",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, TOKEN):
        pair = f"{client.context['client_id']}:another-secret"
        request.set("Authorization", f"Basic {b64encode(pair.encode()).decode()}")
    return request
