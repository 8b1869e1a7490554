"""The client is still asked by requests."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY

ASKED = {"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"}


@on_reply(
    "a request comes on the stream of a response",
    breaks="HTTP-62",
    transports=HTTP_ONLY,
    scenario="streams.answer-stream",
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [ASKED, reply] if context.streams else [reply]
