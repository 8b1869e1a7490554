"""A schema with a type that JSON does not have."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`inputSchema` is no valid JSON Schema", breaks="TL-06")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0]["inputSchema"] = {
            "type": "object",
            "properties": {"when": {"type": "datetime"}},
        }
    return reply
