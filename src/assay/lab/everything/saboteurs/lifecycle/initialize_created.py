"""A session is created, and the status is not of those that say so."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("initialize is refused", breaks="server-session-lifecycle-error")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 503, b"") if b'"initialize"' in request.body else None
