"""The name header is compared if it is there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@on_call("a request without Mcp-Name is served", breaks="HTTP-57", scenario="http.mirrored-name")
def change(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") is None and context.method in NAMED:
        request.set("Mcp-Name", context.params[NAMED[context.method]])
