"""Markers that nobody knows."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request("the markers of encoded values are in capitals", breaks="XH-13", scenario="http.param-headers")
def change(request: Request, guest: Guest) -> Request:
    for name, value in list(request.headers):
        if name.startswith("Mcp-Param-"):
            request.set(name, value.replace("=?base64?", "=?BASE64?"))
    return request
