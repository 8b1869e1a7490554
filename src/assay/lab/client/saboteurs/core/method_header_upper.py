"""A method in capitals."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("Mcp-Method is in capitals", breaks="sep-2243-client-includes-standard-headers")
def change(request: Request, guest: Guest) -> Request:
    if (method := request.header("mcp-method")) is not None:
        request.set("Mcp-Method", method.upper())
    return request
