"""Progress goes to the stream of no request."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

STREAM = [("Content-Type", "text/event-stream")]


@on_call("progress of a request comes on the stream of no request", breaks="HTTP-29")
def change(request: Request, context: FaultContext) -> Response | None:
    if (token := context.meta.get("progressToken")) is not None:
        context.memory["token"] = token
    if request.method != "GET":
        return None
    progress = {"progressToken": context.memory.get("token"), "progress": 1}
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(told))
