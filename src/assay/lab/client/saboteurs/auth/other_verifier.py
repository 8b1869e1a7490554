"""The code verifier is of another challenge."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the code verifier is of another challenge",
    breaks="pkce-verifier-matches-challenge",
    scenario="auth/metadata-default",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, code_verifier="v" * 64)
