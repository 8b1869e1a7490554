"""A prompt is listed once, and then no more."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.jrpc_lists import SERVER

SEEN = "seen"


@on_reply(
    "a prompt is gone, unannounced", breaks="CONF-JRPC-02.drift", server=SERVER, window=newest_of_each_kind
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        if context.memory.get(SEEN):
            reply["result"]["prompts"] = reply["result"]["prompts"][1:]
        context.memory[SEEN] = True
    return reply
