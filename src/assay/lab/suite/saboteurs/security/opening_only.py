"""Only the first request of a conversation is verified."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.suite.sabotaging import as_first, lacks_token, remember_first


@on_call("requests after the first are not verified", breaks="SEC-01", server=LOCKED)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and context.method not in ("initialize", "server/discover"):
        as_first(request, context)
