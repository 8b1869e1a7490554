"""The header that names the task is not read."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call(
    "a wrong Mcp-Name is not noticed",
    breaks="sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
    double=DOUBLE,
)
def change(request: Request, context: FaultContext) -> None:
    if "taskId" in context.params:
        request.set("Mcp-Name", context.params["taskId"])
