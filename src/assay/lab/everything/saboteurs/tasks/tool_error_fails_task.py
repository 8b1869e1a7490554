"""A tool that reports an error is taken for a failure of the protocol."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a tool that reports an error makes its task fail",
    breaks="sep-2663-tool-error-uses-completed-status",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if context.method == "tasks/get" and task.get("result", {}).get("isError"):
        task.pop("result")
        reply["result"] = {**task, "status": "failed", "error": {"code": -32603, "message": "it went wrong"}}
    return reply
