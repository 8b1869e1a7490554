"""Failures have the code that an unset number has."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a prompt that cannot be made is error 0", breaks="PR-11")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        error = {"code": 0, "message": "template engine is not running"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply
