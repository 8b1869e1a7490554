"""The code challenge is said to be the verifier itself."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the code challenge is said to be the verifier itself",
    breaks="pkce-s256-method-used",
    scenario="auth/metadata-default",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, AUTHORIZE, code_challenge_method="plain")
