"""Marks that nobody heeds."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("no argument is repeated in headers", breaks="sep-2243-client-supports-custom-headers")
def change(request: Request, guest: Guest) -> Request:
    request.headers = [pair for pair in request.headers if not pair[0].startswith("Mcp-Param-")]
    return request
