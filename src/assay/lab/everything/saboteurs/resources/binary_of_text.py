"""What is read is not what it calls itself."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a PNG is no PNG", breaks="resources-read-binary")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        reply["result"]["contents"][0]["blob"] = "bm90IGEgcGljdHVyZQ=="
    return reply
