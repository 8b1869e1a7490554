"""A request whose headers are right is refused."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a right Mcp-Name is refused", breaks="sep-2243-server-standard-setup")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") == context.params.get("name"):
        request.set("Mcp-Name", "of-another-kind")
