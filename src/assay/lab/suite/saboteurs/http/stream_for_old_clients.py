"""A server of one revision goes on opening streams by GET."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

TURNED_AWAY = b'{"jsonrpc":"2.0","id":"older","error":{"code":-32022,"message":"unsupported version"}}'
JSON = [("Content-Type", "application/json")]


@on_call("GET opens a stream although there is none to open", breaks="HTTP-66")
def change(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    if request.method == "GET":
        return Response([("Content-Type", "text/event-stream")], 200, b":\n\n")
    return None
