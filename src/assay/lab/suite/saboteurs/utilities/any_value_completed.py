"""What was typed is not looked at."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a value that is no text is completed", breaks="CMP-06")
def change(reply: Json, context: FaultContext) -> Json:
    typed = context.params.get("argument", {}).get("value", "")
    if context.method != "completion/complete" or isinstance(typed, str):
        return reply
    result = {"completion": {"values": ["anything"]}, "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
