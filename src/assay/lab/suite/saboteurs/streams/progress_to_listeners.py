"""Progress goes to the stream of no request."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import Request, Response, Turn, on_call

STREAM = [("Content-Type", "text/event-stream")]


@on_call("progress of a request comes on the stream of no request", breaks="HTTP-29")
def change(request: Request, turn: Turn) -> Response | None:
    if (token := turn.meta.get("progressToken")) is not None:
        turn.memory["token"] = token
    if request.method != "GET":
        return None
    progress = {"progressToken": turn.memory.get("token"), "progress": 1}
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(told))
