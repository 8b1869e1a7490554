"""The error that asks for a visit asks for a form."""

from __future__ import annotations

from assay.lab.harness.driver.question import URL_REQUIRED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

LISTED: list[Json] = [
    {"mode": "form", "message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}
]


@on_reply("-32042 lists an elicitation in form mode", breaks="EL-21")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" in reply:
        return reply
    error = {"code": URL_REQUIRED, "message": "please come back later", "data": {"elicitations": LISTED}}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
