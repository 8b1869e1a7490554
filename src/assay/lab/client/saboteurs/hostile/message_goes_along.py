"""A message is sent wherever a redirect leads."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.http_call import Address
from assay.lab.harness.saboteur import Request


@on_request(
    "a message is sent again to another origin, though without its token",
    breaks="HOSTILE-13",
    scenario="hostile.redirected",
    manners={"follows_redirects": True},
)
def change(request: Request, guest: Guest) -> Request:
    if request.header("host") != Address.of(guest.invitation.url).authority:
        request.headers = [pair for pair in request.headers if pair[0].lower() != "authorization"]
    return request
