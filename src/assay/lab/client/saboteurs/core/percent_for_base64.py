"""Another encoding than the one that there is."""

from __future__ import annotations

from base64 import b64decode
from urllib.parse import quote

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient

BEGIN = "=?base64?"


@on_request("unsafe values are percent-encoded", breaks="sep-2243-client-base64-unsafe")
def change(request: Request, client: ScriptedClient) -> Request:
    for name, value in [pair for pair in request.headers if pair[1].startswith(BEGIN)]:
        plain = b64decode(value.removeprefix(BEGIN).removesuffix("?="))
        request.set(name, quote(plain))
    return request
