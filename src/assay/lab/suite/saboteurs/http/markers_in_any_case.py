"""Base64 is recognised in capitals, too."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("=?BASE64? is decoded", breaks="XH-13")
def change(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-name")) is not None:
        request.set("Mcp-Name", given.replace("=?BASE64?", "=?base64?"))
