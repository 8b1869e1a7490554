"""Another encoding than the one that there is."""

from __future__ import annotations

from base64 import b64decode
from urllib.parse import quote

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.suite.mirrored import ENCODED, NAME


@on_request("a name that is not ASCII is percent-encoded", breaks="HTTP-56")
def change(request: Request, client: ScriptedClient) -> Request:
    given = request.header(NAME) or ""
    if found := ENCODED.fullmatch(given):
        request.set(NAME, quote(b64decode(found[1])))
    return request
