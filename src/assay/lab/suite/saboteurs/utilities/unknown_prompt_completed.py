"""What is not there has no suggestions."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("completion for an unknown prompt gives an empty list", breaks="CMP-04")
def change(reply: Json, context: FaultContext) -> Json:
    named = "argument" in context.params and isinstance(context.params["argument"]["value"], str)
    if context.method != "completion/complete" or "error" not in reply or not named:
        return reply
    result = {"completion": {"values": []}, "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
