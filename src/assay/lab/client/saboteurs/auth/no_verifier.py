"""The token request has no code verifier."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the token request has no code verifier",
    breaks="pkce-code-verifier-sent",
    scenario="auth/metadata-default",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, TOKEN, code_verifier=None)
