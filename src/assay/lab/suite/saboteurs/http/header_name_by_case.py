"""Headers are looked up as the specification spells them."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a header whose name is in small letters is not found", breaks="HTTP-61")
def change(request: Request, context: FaultContext) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != "mcp-method"]
