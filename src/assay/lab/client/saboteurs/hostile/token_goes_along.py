"""The token goes wherever a redirect leads."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.http_call import Address
from assay.lab.harness.saboteur import Request


@on_request(
    "a token is shown wherever a redirect leads",
    breaks="HOSTILE-12",
    scenario="hostile.redirected",
    manners={"follows_redirects": True},
)
def change(request: Request, guest: Guest) -> Request:
    shown = request.header("authorization")
    if request.header("host") == Address.of(guest.invitation.url).authority:
        guest.memory["shown"] = shown
    elif request.target == "/mcp" and guest.memory.get("shown"):
        request.set("Authorization", guest.memory["shown"])
    return request
