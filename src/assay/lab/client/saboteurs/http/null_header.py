"""A header for nothing."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("an argument that is null has a header", breaks="XH-14")
def change(request: Request, guest: Guest) -> Request:
    if request.header("Mcp-Param-Region") == "eu":
        request.set("Mcp-Param-Note", "null")
    return request
