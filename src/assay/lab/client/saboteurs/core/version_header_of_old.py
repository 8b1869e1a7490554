"""A request whose head is of another revision."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request
from assay.revisions.registry import HANDSHAKE


@on_request("the version header names another revision", breaks="sep-2575-http-version-header-matches-meta")
def change(request: Request, guest: Guest) -> Request:
    request.set("MCP-Protocol-Version", HANDSHAKE[-1].date)
    return request
