"""Browsers are not served at all."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("the server's own Origin is refused", breaks="localhost-host-valid-accepted")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 403, b"") if request.header("origin") is not None else None
