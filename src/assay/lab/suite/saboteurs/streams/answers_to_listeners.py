"""Answers are kept for the stream of no request, as with the two endpoints of old."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import Request, Response, Turn, on_call

STREAM = [("Content-Type", "text/event-stream")]


@on_call("a response comes on the stream of no request", breaks="HTTP-30")
def change(request: Request, turn: Turn) -> Response | None:
    if turn.method == "ping" and turn.asked is not None and "kept" not in turn.memory:
        turn.memory["kept"] = {"jsonrpc": "2.0", "id": turn.asked["id"], "result": {}}
        return Response([], 202, b"")
    if request.method != "GET" or "kept" not in turn.memory:
        return None
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(turn.memory["kept"]))
