"""A server that knows Last-Event-ID only as an error."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

BODY = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"streams are not resumed here"}}'


@on_call("a request with Last-Event-ID is refused", breaks="CONF-TPT-01.http.reissue")
def change(request: Request, context: FaultContext) -> Response | None:
    if request.header("Last-Event-ID") is None:
        return None
    return Response(headers=[("Content-Type", "application/json")], status=400, body=BODY)
