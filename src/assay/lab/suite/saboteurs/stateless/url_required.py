"""A question is an error with a code that is retired."""

from __future__ import annotations

from assay.lab.harness.driver.question import URL_REQUIRED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a question is asked with -32042, as it was before", breaks="BASE-24", scenario="stateless.asking")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("result", {}).get("resultType") != "input_required":
        return reply
    error = {"code": URL_REQUIRED, "message": "URL elicitation required", "data": {"elicitations": []}}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
