"""Headers of parameters are compared if they are there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("an argument without its header is served", breaks="XH-16", server="everything")
def change(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") is None and isinstance(arguments.get("region"), str):
        request.set("Mcp-Param-Region", arguments["region"])
