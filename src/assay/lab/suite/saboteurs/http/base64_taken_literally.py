"""Base64 is compared as it stands."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a name in Base64 is refused", breaks="HTTP-60")
def change(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-name") or "").startswith("=?base64?"):
        request.set("Mcp-Name", f"literally {given}")
