"""What is replayed is everything that the client was sent since."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, Request, Response, on_reply
from assay.lab.harness.transport import HTTP_ONLY

STREAM = [("Content-Type", "text/event-stream")]


def resume(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET" or request.header("last-event-id") is None:
        return None
    replayed = (b"data: %b\n\n" % msgspec.json.encode(reply) for reply in context.memory.get("said", []))
    return Response(STREAM, 200, b"".join(replayed))


@on_reply(
    "a resumed stream replays the messages of all streams",
    breaks="HTTP-35",
    transports=HTTP_ONLY,
    call=resume,
)
def change(reply: Json, context: FaultContext) -> Json:
    context.memory.setdefault("said", []).append(reply)
    return reply
