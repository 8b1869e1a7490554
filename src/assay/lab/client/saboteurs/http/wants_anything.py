"""A stream that is not asked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("a GET does not ask for events", breaks="HTTP-27")
def change(request: Request, client: ScriptedClient) -> Request:
    if request.method == "GET":
        request.set("Accept", "*/*")
    return request
