"""Without a session, one has to log in."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Response, Turn, on_call


@on_call("a request without a session id gets 401", breaks="HTTP-40")
def change(request: Request, turn: Turn) -> Response | None:
    opening = turn.method == "initialize"
    named = request.header("mcp-session-id") is not None
    return None if opening or named or request.method != "POST" else Response([], 401, b"")
