"""Mcp-Method may say anything."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("Mcp-Method may say anything", breaks="sep-2243-server-reject-invalid-headers")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-method") is not None:
        request.set("Mcp-Method", context.method)
