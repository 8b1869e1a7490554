"""The version header is not looked at."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a version header that names no version is ignored", breaks="HTTP-47")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-protocol-version") is not None:
        request.set("MCP-Protocol-Version", context.revision.date)
