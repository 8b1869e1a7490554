"""A missing argument is put into the text as it is: undefined."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a missing argument is not noticed", breaks="PR-12")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "error" in reply and context.params.get("arguments") == {}:
        message = {"role": "user", "content": {"type": "text", "text": "Please review: undefined"}}
        result = {"messages": [message], "resultType": "complete"}
        return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
    return reply
