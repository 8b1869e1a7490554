"""Answers are kept for the stream of no request, as with the two endpoints of old."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

STREAM = [("Content-Type", "text/event-stream")]


@on_call("a response comes on the stream of no request", breaks="HTTP-30")
def change(request: Request, context: FaultContext) -> Response | None:
    if context.method == "ping" and context.asked is not None and "kept" not in context.memory:
        context.memory["kept"] = {"jsonrpc": "2.0", "id": context.asked["id"], "result": {}}
        return Response([], 202, b"")
    if request.method != "GET" or "kept" not in context.memory:
        return None
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(context.memory["kept"]))
