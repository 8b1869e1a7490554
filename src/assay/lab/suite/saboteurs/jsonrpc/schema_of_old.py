"""Schemas say that they are of an older dialect, as many generators write them."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a schema names draft-07 as its dialect", breaks="JS-06")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        for tool in reply["result"]["tools"]:
            tool["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"
    return reply
