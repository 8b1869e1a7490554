"""Streams were never thought of: the router knows POST only."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("GET on the endpoint gets 404", breaks="HTTP-01", window=lambda revision: revision.http.sessions)
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404, b"Not Found") if request.method == "GET" else None
