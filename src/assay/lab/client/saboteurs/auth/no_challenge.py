"""The authorization request has no code challenge."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the authorization request has no code challenge",
    breaks="pkce-code-challenge-sent",
    scenario="auth/metadata-default",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, AUTHORIZE, code_challenge=None)
