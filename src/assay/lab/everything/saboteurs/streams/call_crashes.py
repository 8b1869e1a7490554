"""The tool that closes its stream takes the server with it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a call is answered with 500", breaks="server-sse-post-request")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 500, b"") if b"test_reconnection" in request.body else None
