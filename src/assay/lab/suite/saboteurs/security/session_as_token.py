"""Whoever knows a session, or state that was given out, needs no token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.suite.sabotaging import as_first, lacks_token, remember_first


@on_call("a session id stands for a token", breaks="SEC-02", server=LOCKED)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and (request.header("mcp-session-id") or "requestState" in context.params):
        as_first(request, context)
