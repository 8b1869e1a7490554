"""A list wants to know something first."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`resources/list` is answered with a question", breaks="MR-02", scenario="stateless.lists")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/list":
        return reply
    result = {"resultType": "input_required", "requestState": "which folder?"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
