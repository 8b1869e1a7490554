"""The name header is compared if it is there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Turn, on_call

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@on_call("a request without Mcp-Name is served", breaks="HTTP-57", scenario="http.mirrored-name")
def change(request: Request, turn: Turn) -> None:
    if request.header("mcp-name") is None and turn.method in NAMED:
        request.set("Mcp-Name", turn.params[NAMED[turn.method]])
