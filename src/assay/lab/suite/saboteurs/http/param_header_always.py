"""A header is wanted whether there is an argument or not."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("the header of an argument that is not there is wanted", breaks="XH-15", server="everything")
def change(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if context.method == "tools/call" and arguments.get("region") is None:
        request.set("Mcp-Name", None)  # what the server behind refuses as it would a missing parameter
