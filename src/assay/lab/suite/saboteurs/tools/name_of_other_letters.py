"""A name in letters of its author's language."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool has a name with an umlaut", breaks="TL-09")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0]["name"] = "w\u00e4hrung_umrechnen"
    return reply
