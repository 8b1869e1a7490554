"""Required properties are marked one by one, as in the first drafts of JSON Schema."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a schema has `required: true` in a property", breaks="JS-04")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        for tool in reply["result"]["tools"]:
            tool["inputSchema"]["properties"] = {"text": {"type": "string", "required": True}}
    return reply
