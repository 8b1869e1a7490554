"""Nothing, written out."""

from __future__ import annotations

from assay.lab.client.fixtures.marked_tools import FEW
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("an argument that is null has a header", breaks="sep-2243-client-omit-null")
def change(request: Request, guest: Guest) -> Request:
    if request.header("mcp-name") == FEW:
        request.set("Mcp-Param-Verbose", "null")
    return request
