"""Progress goes to whoever is there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY

PROGRESS = {
    "jsonrpc": "2.0",
    "method": "notifications/progress",
    "params": {"progressToken": "of-somebody-else", "progress": 1},
}


@on_reply(
    "progress of another request comes before the response",
    breaks="HTTP-15",
    transports=HTTP_ONLY,
    scenario="streams.answer-stream",
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [PROGRESS, reply] if context.streams else [reply]
