"""Values as they are."""

from __future__ import annotations

from base64 import b64decode

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.suite.mirrored import ENCODED

HEADER = "Mcp-Param-Note"


@on_request("values that are not safe are not encoded", breaks="XH-11")
def change(request: Request, client: ScriptedClient) -> Request:
    given = request.header(HEADER) or ""
    if found := ENCODED.fullmatch(given):
        request.set(HEADER, b64decode(found[1]).decode())
    return request
