"""A header that no longer can be read is left out of the comparison."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a parameter header with forbidden letters is served", breaks="XH-17", server="everything")
def change(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if not (request.header("mcp-param-region") or "").isascii():
        request.set("Mcp-Param-Region", arguments["region"])
