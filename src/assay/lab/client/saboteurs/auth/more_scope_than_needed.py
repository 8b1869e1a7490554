"""It asks for more than it was told to."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it asks for more than it was told to", breaks="AU-18", scenario="auth/scope-from-www-authenticate"
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic mcp:admin")
