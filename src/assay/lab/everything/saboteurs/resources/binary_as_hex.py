"""Bytes are written as people write them."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("binary data is in hex", breaks="resources-read-binary")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        reply["result"]["contents"][0]["blob"] = "89:50:4e:47"
    return reply
