"""The header of a parameter is never decoded."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("the header of a parameter is never decoded", breaks="sep-2243-server-decode-base64")
def change(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-param-region") or "").endswith("?="):
        request.set("Mcp-Param-Region", f"literally {given}")
