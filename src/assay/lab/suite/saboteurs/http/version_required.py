"""The version header is insisted on in every request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a request without a version header gets 400", breaks="HTTP-46")
def change(request: Request, context: FaultContext) -> Response | None:
    if request.header("mcp-protocol-version") is None and context.method != "initialize":
        return Response([], 400, b"")
    return None
