"""It shows a token of another authorization server."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it shows a token of another authorization server", breaks="AU-68", scenario="auth/metadata-default"
)
def change(request: Request, guest: Guest) -> Request | None:
    if goes_to(request, ENDPOINT) and request.header("authorization") is None:
        request.set("Authorization", "Bearer token-of-another-server")
    return request
