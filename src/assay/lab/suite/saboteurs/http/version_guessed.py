"""A server of one revision guesses the version that is missing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

TURNED_AWAY = b'{"jsonrpc":"2.0","id":"older","error":{"code":-32022,"message":"unsupported version"}}'
JSON = [("Content-Type", "application/json")]


@on_call(
    "a request without a version header is served by a server that knows no older ones", breaks="HTTP-53"
)
def change(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    if request.header("mcp-protocol-version") is None:
        request.set("MCP-Protocol-Version", context.revision.date)
    return None
