"""The header that names the method is not read."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a wrong Mcp-Method is not noticed", breaks="tasks-headers-reject-mismatched-method", double=DOUBLE)
def change(request: Request, context: FaultContext) -> None:
    if context.method:
        request.set("Mcp-Method", context.method)
