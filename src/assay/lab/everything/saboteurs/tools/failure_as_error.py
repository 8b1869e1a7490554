"""The failure of a tool is one of the protocol."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool that fails is answered with a JSON-RPC error", breaks="tools-call-error")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") != "test_error_handling":
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32603, "message": "It failed"}}
