"""GET is refused as a request without a body."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("GET gets 400", breaks="HTTP-28")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 400, b"no body") if request.method == "GET" else None
