"""What does not belong into a header is dropped before it is compared."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("letters that no header may hold are dropped", breaks="HTTP-59")
def change(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-name")) is not None:
        request.set("Mcp-Name", given.encode("ascii", "ignore").decode())
