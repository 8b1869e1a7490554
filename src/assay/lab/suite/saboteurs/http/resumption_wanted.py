"""A server of one revision looks for the event that is named."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

TURNED_AWAY = b'{"jsonrpc":"2.0","id":"older","error":{"code":-32022,"message":"unsupported version"}}'
JSON = [("Content-Type", "application/json")]


@on_call("a request with Last-Event-ID gets 400", breaks="HTTP-68")
def change(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    return Response([], 400, b"") if request.header("last-event-id") is not None else None
