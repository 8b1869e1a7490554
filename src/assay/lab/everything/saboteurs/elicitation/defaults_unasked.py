"""The defaults are good enough."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("a tool that should show a form shows none", breaks="elicitation-sep1034-general")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "tools/call":
        return message
    result = {"content": [{"type": "text", "text": "Elicitation completed"}]}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": result}])
