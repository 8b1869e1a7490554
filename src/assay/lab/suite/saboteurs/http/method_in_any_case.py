"""Methods are compared without regard to case."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("Mcp-Method is compared without regard to case", breaks="HTTP-61")
def change(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-method") or "").lower() == context.method.lower():
        request.set("Mcp-Method", context.method)
