"""A list of one is given as the thing itself."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`tools` is an object, not a list", breaks="SHAPE-01", scenario="tools.definitions")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"] = reply["result"]["tools"][0]
    return reply
