"""The name header has to be there, and nobody reads it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@on_call("Mcp-Name may say anything", breaks="HTTP-58", scenario="http.mirrored-name")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") is not None and context.method in NAMED:
        request.set("Mcp-Name", context.params[NAMED[context.method]])
