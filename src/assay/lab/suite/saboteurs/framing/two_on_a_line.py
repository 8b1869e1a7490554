"""Two answers that are ready at once share a line."""

from __future__ import annotations

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply(
    "two messages are on one line",
    breaks="STD-02",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    window=newest_of_each_kind,
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | list[Json] | bytes:
    if reply.get("id") == "line 1":
        context.memory["first"] = reply
        return []
    if reply.get("id") == "line 2":
        return encode(context.memory["first"]) + encode(reply)
    return reply
