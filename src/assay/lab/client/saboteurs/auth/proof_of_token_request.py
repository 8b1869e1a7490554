"""It sends the proof of its token request to the server, too."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it sends the proof of its token request to the server, too",
    breaks="sep-1932-client-fresh-proof",
    scenario="auth/dpop",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    proof = request.header("dpop")
    if goes_to(request, TOKEN):
        client.memory["proof"] = proof
    elif proof is not None:
        request.set("DPoP", client.memory["proof"])
    return request
