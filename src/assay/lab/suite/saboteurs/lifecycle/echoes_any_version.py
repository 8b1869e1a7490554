"""Whatever version a client asks for is agreed on."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a version that does not exist is echoed", breaks="LIFE-10")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["protocolVersion"] = context.params.get("protocolVersion")
    return reply
