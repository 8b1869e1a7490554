"""A client that takes one kind of answer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("a POST accepts JSON only", breaks="HTTP-07")
def change(request: Request, client: ScriptedClient) -> Request:
    if request.method == "POST":
        request.set("Accept", "application/json")
    return request
