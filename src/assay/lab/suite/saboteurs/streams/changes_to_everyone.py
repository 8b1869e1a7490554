"""Changes of lists are told on whatever stream is open."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@on_reply(
    "a change of the list comes on the stream of another request",
    breaks="HTTP-15",
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.disconnect_cancels,
    scenario="streams.answer-stream",
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [CHANGED, reply] if context.streams else [reply]
