"""Headers of parameters are not compared."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a parameter header may say anything", breaks="XH-18", server="everything")
def change(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    given = request.header("mcp-param-region")
    if given is not None and given.isascii() and isinstance(arguments.get("region"), str):
        request.set("Mcp-Param-Region", arguments["region"])
