"""A message is sent wherever a redirect leads."""

from __future__ import annotations

from assay.lab.harness.links.http_call import Address
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "a message is sent again to another origin, though without its token",
    breaks="HOSTILE-13",
    scenario="hostile.redirected",
    behaviour={"follows_redirects": True},
)
def change(request: Request, client: ScriptedClient) -> Request:
    if request.header("host") != Address.of(client.invitation.url).authority:
        request.headers = [pair for pair in request.headers if pair[0].lower() != "authorization"]
    return request
