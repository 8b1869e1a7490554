"""The code challenge is said to be the verifier itself."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "the code challenge is said to be the verifier itself",
    breaks="pkce-s256-method-used",
    scenario="auth/metadata-default",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, code_challenge_method="plain")
