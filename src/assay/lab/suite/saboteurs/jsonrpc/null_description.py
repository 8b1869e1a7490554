"""Every tool has a `description`, which is null."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "optional fields inside a list are null",
    breaks="SHAPE-01",
    scenario="tools.definitions",
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        for tool in reply["result"]["tools"]:
            tool["description"] = None
    return reply
