"""It never says what the token is for."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("it never says what the token is for", breaks="AU-56", scenario="auth/metadata-default")
def change(request: Request, guest: Guest) -> Request | None:
    return altered(altered(request, AUTHORIZE, resource=None), TOKEN, resource=None)
