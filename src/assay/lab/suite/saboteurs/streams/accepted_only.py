"""Requests are accepted like notifications; their answers come some other way."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a request gets 202 and nothing", breaks="HTTP-12")
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 202, b"") if context.method in ("ping", "server/discover") else None
