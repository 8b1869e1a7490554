"""Booleans as another language writes them."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("booleans are written with a capital", breaks="sep-2243-client-encode-values")
def change(request: Request, client: ScriptedClient) -> Request:
    for name, value in [pair for pair in request.headers if pair[1] in ("true", "false")]:
        request.set(name, value.capitalize())
    return request
