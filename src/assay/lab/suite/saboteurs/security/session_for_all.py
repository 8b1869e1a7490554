"""A session, or state that was given out, is served for whoever has a good token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.suite.sabotaging import as_first, remember_first


@on_call("a session of another user is taken", breaks="SEC-04", server=LOCKED)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.header("mcp-session-id") or "requestState" in context.params:
        as_first(request, context)
