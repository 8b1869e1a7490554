"""The header of a parameter may be missing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("the header of a parameter may be missing", breaks="sep-2243-server-reject-invalid-param-chars")
def change(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") is None and "region" in arguments:
        request.set("Mcp-Param-Region", arguments["region"])
