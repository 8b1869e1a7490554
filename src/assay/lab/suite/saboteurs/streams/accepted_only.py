"""Requests are accepted like notifications; their answers come some other way."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Response, Turn, on_call


@on_call("a request gets 202 and nothing", breaks="HTTP-12")
def change(request: Request, turn: Turn) -> Response | None:
    return Response([], 202, b"") if turn.method in ("ping", "server/discover") else None
