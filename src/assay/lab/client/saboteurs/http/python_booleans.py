"""Booleans as Python writes them."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("a boolean is `True` in its header", breaks="XH-10")
def change(request: Request, guest: Guest) -> Request:
    if given := request.header("Mcp-Param-Dry"):
        request.set("Mcp-Param-Dry", given.title())
    return request
