"""The endpoint for messages takes what it can answer."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call
from assay.lab.harness.transport import HTTP_SSE_ONLY


@on_call("the endpoint for messages gets no POST of notifications", breaks="SSE-01", transports=HTTP_SSE_ONLY)
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 405) if context.asked is not None and "id" not in context.asked else None
