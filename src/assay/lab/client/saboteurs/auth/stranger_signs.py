"""Its assertion is signed with another key."""

from __future__ import annotations

from assay.authority.keys import base64url, new_key
from assay.lab.client.authorization.altering import TOKEN, altered, goes_to, parameters
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "its assertion is signed with another key",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if not goes_to(request, TOKEN):
        return request
    head, _, _ = parameters(request)["client_assertion"].rpartition(".")
    signature = base64url(new_key("ES256").sign(head.encode()))
    return altered(request, TOKEN, client_assertion=f"{head}.{signature}")
