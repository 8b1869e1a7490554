"""Arguments are not looked at."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("arguments that do not fit are taken", breaks="CONF-JRPC-03.invalid-arguments")
def change(reply: Json, context: FaultContext) -> Json:
    if not str(reply.get("id")).startswith("invalid-arguments"):
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "result": {"content": [{"type": "text", "text": "done"}]}}
