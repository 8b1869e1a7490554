"""A prompt that does not exist has no messages."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an unknown prompt is an empty one", breaks="PR-09")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "no-such" in str(context.params.get("name")):
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"messages": [], "resultType": "complete"}}
    return reply
