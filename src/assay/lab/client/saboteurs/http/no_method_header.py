"""A method that is not in the head."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("requests have no `Mcp-Method`", breaks="HTTP-54", scenario="tools_call")
def change(request: Request, guest: Guest) -> Request:
    request.set("Mcp-Method", None)
    return request
