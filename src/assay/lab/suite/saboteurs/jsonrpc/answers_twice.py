"""Every answer is sent twice."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("every request is answered twice", breaks="BASE-06", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if context.asked is not None else [reply]
