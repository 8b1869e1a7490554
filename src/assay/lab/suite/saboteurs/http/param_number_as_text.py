"""Numbers in headers are compared as text."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("42.0 in a header is not taken for 42", breaks="XH-19", server="everything")
def change(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-param-depth") or "").endswith(".0"):
        request.set("Mcp-Param-Depth", "of another kind")
