"""The method header is compared if it is there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a request without Mcp-Method is served", breaks="HTTP-57")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-method") is None and context.method != "initialize":
        request.set("Mcp-Method", context.method)
