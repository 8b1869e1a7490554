"""Base64 without its padding is decoded."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("Base64 without padding is decoded", breaks="sep-2243-server-reject-invalid-param-chars")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-param-region") == "=?base64?SGVsbG8?=":
        request.set("Mcp-Param-Region", "=?base64?SGVsbG8=?=")
