"""It puts its secret into the form where the header is wanted."""

from __future__ import annotations

from base64 import b64decode

from assay.lab.client.authorization.altering import TOKEN, altered, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it puts its secret into the form where the header is wanted",
    breaks="token-endpoint-auth-method",
    scenario="auth/token-endpoint-auth-basic",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    header = request.header("authorization") or ""
    if not goes_to(request, TOKEN) or not header.startswith("Basic "):
        return request
    name, _, secret = b64decode(header.removeprefix("Basic ")).decode().partition(":")
    request.set("Authorization", None)
    return altered(request, TOKEN, client_id=name, client_secret=secret)
