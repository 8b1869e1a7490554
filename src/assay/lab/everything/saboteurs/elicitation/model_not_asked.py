"""The tool knows the answer."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("a tool that should ask the model asks nobody", breaks="tools-call-sampling")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "tools/call":
        return message
    result = {"content": [{"type": "text", "text": "LLM response: I know"}]}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": result}])
