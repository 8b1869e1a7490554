"""Ending a session breaks something."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("DELETE is answered with 500", breaks="server-session-delete-accepted")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 500, b"") if request.method == "DELETE" else None
