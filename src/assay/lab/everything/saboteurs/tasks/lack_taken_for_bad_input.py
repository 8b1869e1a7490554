"""What a client lacks is taken for a mistake in its call."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a tool that must be a task is refused with -32602",
    breaks="sep-2663-server-returns-missing-capability-when-required",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["code"] = -32602
    return reply
