"""A session is not ready for its first notification."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("`notifications/initialized` of a session is refused", breaks="server-session-initialized-accepted")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 409, b"") if b"notifications/initialized" in request.body else None
