"""`initialize` is answered without saying who answers."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`serverInfo` is missing", breaks="LIFE-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"].pop("serverInfo")
    return reply
