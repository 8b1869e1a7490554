"""A header that nobody asked for."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "an argument that is not marked is repeated, too", breaks="sep-2243-client-mirrors-designated-params"
)
def change(request: Request, guest: Guest) -> Request:
    if request.header("mcp-param-region") is not None:
        request.set("Mcp-Param-Query", "SELECT")
    return request
