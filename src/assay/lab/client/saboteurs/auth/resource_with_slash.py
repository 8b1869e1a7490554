"""It names the resource with a slash at the end."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("it names the resource with a slash at the end", breaks="AU-59", scenario="auth/metadata-default")
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{guest.invitation.url}/")
