"""Every answer is sent twice."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("every request is answered twice", breaks="CONF-JRPC-02.order")
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if context.asked is not None else [reply]
