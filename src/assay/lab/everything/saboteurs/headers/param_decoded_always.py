"""What looks like Base64 is decoded, marked or not."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("what looks like Base64 is decoded, marked or not", breaks="sep-2243-server-validate-param-match")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-param-region") == "SGVsbG8=":
        request.set("Mcp-Param-Region", "Hello")
