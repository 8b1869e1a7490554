"""The token request has no code verifier."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the token request has no code verifier",
    breaks="pkce-code-verifier-sent",
    scenario="auth/metadata-default",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, code_verifier=None)
