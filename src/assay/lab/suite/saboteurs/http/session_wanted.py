"""A server of one revision wants to know the session that is named."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

TURNED_AWAY = b'{"jsonrpc":"2.0","id":"older","error":{"code":-32022,"message":"unsupported version"}}'
JSON = [("Content-Type", "application/json")]


@on_call("a request with the id of a session gets 404", breaks="HTTP-67")
def change(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    return Response([], 404, b"") if request.header("mcp-session-id") is not None else None
