"""A call is refused though its header says what its body says."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY


@on_reply(
    "a call with the right headers is refused",
    breaks="tasks-headers-tolerate-mcp-method-on-tools-call",
    transports=HTTP_ONLY,
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "greet":
        return {
            "jsonrpc": "2.0",
            "id": reply["id"],
            "error": {"code": -32020, "message": "a header is wrong"},
        }
    return reply
