"""It knows nothing of PKCE."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it knows nothing of PKCE", breaks="AU-82", scenario="auth/metadata-default")
def change(request: Request, client: ScriptedClient) -> Request | None:
    without = altered(request, AUTHORIZE, code_challenge=None, code_challenge_method=None)
    return altered(without, TOKEN, code_verifier=None)
