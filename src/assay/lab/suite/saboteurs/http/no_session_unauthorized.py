"""Without a session, one has to log in."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a request without a session id gets 401", breaks="HTTP-40")
def change(request: Request, context: FaultContext) -> Response | None:
    opening = context.method == "initialize"
    named = request.header("mcp-session-id") is not None
    return None if opening or named or request.method != "POST" else Response([], 401, b"")
