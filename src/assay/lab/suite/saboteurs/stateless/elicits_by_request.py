"""The user is asked as in earlier revisions: by a request of the server's."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY

FORM = {"message": "Who are you?", "requestedSchema": {"type": "object", "properties": {}}}


@on_reply(
    "the user is asked by a request", breaks="MR-01", transports=STDIO_ONLY, scenario="stateless.asking"
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("result", {}).get("resultType") != "input_required":
        return [reply]
    return [{"jsonrpc": "2.0", "id": "asks-1", "method": ELICIT, "params": FORM}, reply]
