"""Every answer goes to everyone who listens, too."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, Request, Response, on_reply
from assay.lab.harness.transport import HTTP_ONLY

STREAM = [("Content-Type", "text/event-stream")]


def listen(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET" or "said" not in context.memory:
        return None
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(context.memory["said"]))


@on_reply("a response comes on two streams", breaks="HTTP-31", transports=HTTP_ONLY, call=listen)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping":
        context.memory["said"] = reply
    return reply
