"""It shows a token that nobody gave it."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it shows a token that nobody gave it", breaks="invalid-bearer-token", scenario="auth/metadata-default"
)
def change(request: Request, guest: Guest) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("Authorization", "Bearer made-up-by-the-client")
    return request
