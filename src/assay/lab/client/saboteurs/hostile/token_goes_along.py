"""The token goes wherever a redirect leads."""

from __future__ import annotations

from assay.lab.harness.links.http_call import Address
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import Guest


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
