"""Mcp-Name may be missing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("Mcp-Name may be missing", breaks="sep-2243-server-reject-invalid-headers")
def change(request: Request, context: FaultContext) -> None:
    if context.method == "tools/call" and request.header("mcp-name") is None:
        request.set("Mcp-Name", context.params["name"])
