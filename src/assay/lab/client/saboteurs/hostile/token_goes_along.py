"""The token goes wherever a redirect leads."""

from __future__ import annotations

from assay.lab.harness.links.http_call import Address
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "a token is shown wherever a redirect leads",
    breaks="HOSTILE-12",
    scenario="hostile.redirected",
    behaviour={"follows_redirects": True},
)
def change(request: Request, client: ScriptedClient) -> Request:
    shown = request.header("authorization")
    if request.header("host") == Address.of(client.invitation.url).authority:
        client.memory["shown"] = shown
    elif request.target == "/mcp" and client.memory.get("shown"):
        request.set("Authorization", client.memory["shown"])
    return request
