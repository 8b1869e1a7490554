"""What comes after the handshake is a request like any other, and has no id."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("`notifications/initialized` is refused", breaks="server-initialize")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 400, b"") if b"notifications/initialized" in request.body else None
