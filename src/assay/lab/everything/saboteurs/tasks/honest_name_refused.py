"""Requests about tasks are refused though their headers are right."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY


@on_reply(
    "tasks/get with the right headers is refused",
    breaks="sep-2663-routing-headers-accepted-on-tasks-get",
    transports=HTTP_ONLY,
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get":
        return {
            "jsonrpc": "2.0",
            "id": reply["id"],
            "error": {"code": -32020, "message": "a header is wrong"},
        }
    return reply
