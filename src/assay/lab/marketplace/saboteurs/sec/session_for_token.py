"""Tokens are asked for when a session is opened, and never again."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, lacks_token, remember_first


@on_call(
    "who knows a session needs no token",
    breaks="CONF-SEC-04.no-token",
    server=SERVER,
    window=lambda revision: revision.http.sessions,
)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and request.header("mcp-session-id") is not None:
        as_first(request, context)
