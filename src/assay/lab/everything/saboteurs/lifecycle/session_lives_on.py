"""DELETE is answered politely, and changes nothing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a session that was ended is still served", breaks="server-session-terminated-returns-404")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 200, b"") if request.method == "DELETE" else None
