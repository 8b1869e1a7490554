"""No header for what is empty."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("an empty argument has no header", breaks="sep-2243-client-mirrors-designated-params")
def change(request: Request, guest: Guest) -> Request:
    request.set("Mcp-Param-EmptyVal", request.header("mcp-param-emptyval") or None)
    return request
